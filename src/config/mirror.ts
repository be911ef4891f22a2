import { parseUrl } from "#src/format/parse-url.ts"
import { Effect, Option, type Redacted } from "effect"
import { kinds, setting, SettingError } from "./read-setting.ts"

/** The operator's registry, which has a copy of every deployed image. */
export interface MirrorSettings {
  /** Scheme and host, no trailing slash. */
  readonly root: string
  readonly host: string
  /** The one repository for all images. */
  readonly repository: string
  readonly login: Option.Option<{ readonly username: string; readonly password: Redacted.Redacted }>
}

const defaultRepository = "berth"

/** Distribution specification, "Pulling manifests": the grammar of <name>. */
const repositoryPattern = /^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(\/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$/

const isOwn = (hostname: string) => /^(localhost|\[::1\]|127\.\d+\.\d+\.\d+)$/.test(hostname)

const bad = (message: string) => new SettingError({ message })

export const readMirror = Effect.gen(function*() {
  const address = yield* setting("REGISTRY_URL", kinds.registryUrl)
  const username = yield* setting("REGISTRY_USERNAME", kinds.registryUser)
  const password = yield* setting("REGISTRY_PASSWORD", kinds.registryPassword)
  if (Option.isSome(username) !== Option.isSome(password)) {
    return yield* bad("REGISTRY_USERNAME and REGISTRY_PASSWORD must be set together")
  }
  if (Option.isNone(address)) {
    return Option.isSome(username) ? yield* bad("REGISTRY_URL is required with REGISTRY_USERNAME") : Option.none()
  }
  const url = parseUrl(address.value)
  if (url === undefined) return Option.none()
  const repository = url.pathname.slice(1) || defaultRepository
  if (!repositoryPattern.test(repository) || repository.length > 200) {
    return yield* bad(
      `REGISTRY_URL must end with a repository's name in lower case, such as /berth, but is ${
        JSON.stringify(address.value)
      }`
    )
  }
  if (url.protocol === "http:" && Option.isSome(username) && !isOwn(url.hostname)) {
    return yield* bad("REGISTRY_URL must begin with https: when REGISTRY_PASSWORD is set, or others could read it")
  }
  return Option.some<MirrorSettings>({
    root: url.origin,
    host: url.host,
    repository,
    login: Option.all({ username, password })
  })
})
