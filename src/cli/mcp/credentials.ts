import { usableFolder } from "#src/config/home.ts"
import { parseUrl } from "#src/format/parse-url.ts"
import { FileSystem, Path } from "@effect/platform"
import { Config, Effect, Option, Schema } from "effect"
import { homedir } from "node:os"

/** Session tokens by the origin of their installation. */
const Credentials = Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.String }))

const location = Effect.gen(function*() {
  const path = yield* Path.Path
  const base = yield* Config.option(Config.nonEmptyString("XDG_CONFIG_HOME"))
  return path.join(Option.getOrElse(base, () => path.join(homedir(), ".config")), "berth", "credentials.json")
})

/** Creates the folder for credentials if needed. Run before a log-in, so that it fails before a session is opened. */
export const credentialsFolder = Effect.gen(function*() {
  const path = yield* Path.Path
  yield* usableFolder("XDG_CONFIG_HOME", path.dirname(yield* location), 0o700)
})

const readAll = Effect.gen(function*() {
  const files = yield* FileSystem.FileSystem
  return yield* Schema.decode(Credentials)(yield* files.readFileString(yield* location))
}).pipe(Effect.catchAll(() => Effect.succeed<Readonly<Record<string, string>>>({})))

/** Sessions by the origin of their installation. */
export const savedSessions = readAll

const write = Effect.fn("cli.writeCredentials")(function*(credentials: Readonly<Record<string, string>>) {
  const files = yield* FileSystem.FileSystem
  const file = yield* location
  const text = yield* Schema.encode(Credentials)(credentials)
  yield* credentialsFolder
  // Written aside and renamed: a crash leaves the old file or the new one, and no moment has a wrong mode.
  yield* files.writeFileString(`${file}.new`, text, { mode: 0o600 })
  yield* files.rename(`${file}.new`, file)
  return file
})

/** Saves a session token in the user's configuration folder, readable only by the user; returns the file's path. */
export const saveToken = Effect.fn("cli.saveToken")(function*(url: string, token: string) {
  return yield* write({ ...(yield* readAll), [new URL(url).origin]: token })
})

/** Removes the session token of an installation from the file, and returns it. */
export const dropToken = Effect.fn("cli.dropToken")(function*(url: string) {
  const { [new URL(url).origin]: token, ...others } = yield* readAll
  if (token !== undefined) yield* write(others)
  return Option.fromNullable(token)
})

/** The platform's own doors that take a session (docs/api.md); below `/s/` are hosted servers, which must not get it. */
const takesSession = /^\/(mcp|sse|mcp\/composites\/[^/]+|v1\/.*)$/

/** The saved session for a URL of the platform's own API or MCP; never for a hosted server behind it. */
export const savedToken = Effect.fn("cli.savedToken")(function*(url: string) {
  const parsed = parseUrl(url)
  if (parsed === undefined) return Option.none<string>()
  const { origin, pathname } = parsed
  return takesSession.test(pathname) ? Option.fromNullable((yield* readAll)[origin]) : Option.none<string>()
})
