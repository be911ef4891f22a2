import { CliFailure } from "#src/cli/CliFailure.ts"
import { exitCodes } from "#src/cli/exit-codes.ts"
import { unwritable } from "#src/cli/unwritable.ts"
import { usableFolder } from "#src/config/home.ts"
import { isDiskFull } from "#src/shared/disk-full.ts"
import { FileSystem, Path } from "@effect/platform"
import { type PlatformError } from "@effect/platform/Error"
import { Config, Effect, Option, Schema } from "effect"
import { homedir } from "node:os"
import { withLock } from "./lock.ts"

/** What a login in the browser leaves: tokens, and where they are renewed and revoked. */
export const BrowserLogin = Schema.Struct({
  issuer: Schema.String,
  tokenEndpoint: Schema.String,
  revocationEndpoint: Schema.optionalWith(Schema.String, { exact: true }),
  clientId: Schema.String,
  accessToken: Schema.String,
  /** Of the access token. */
  expiresAt: Schema.DateFromString,
  refreshToken: Schema.optionalWith(Schema.String, { exact: true })
})
export type BrowserLogin = typeof BrowserLogin.Type

/** A session's token or an API key; or what a browser login leaves. By the origin of their installation. */
const Credentials = Schema.parseJson(
  Schema.Record({ key: Schema.String, value: Schema.Union(Schema.String, BrowserLogin) })
)
type Credentials = typeof Credentials.Type
export type Credential = Credentials[string]

const location = Effect.gen(function*() {
  const path = yield* Path.Path
  const base = yield* Config.option(Config.nonEmptyString("XDG_CONFIG_HOME"))
  return path.join(Option.getOrElse(base, () => path.join(homedir(), ".config")), "berth", "credentials.json")
}).pipe(Effect.orDie)

/** Creates the folder for credentials if needed. Run before a log-in, so that it fails before a session is opened. */
export const credentialsFolder = Effect.gen(function*() {
  const path = yield* Path.Path
  yield* usableFolder("XDG_CONFIG_HOME", path.dirname(yield* location), 0o700)
})

const read = Effect.gen(function*() {
  const files = yield* FileSystem.FileSystem
  return yield* Schema.decode(Credentials)(yield* files.readFileString(yield* location))
})

export const savedCredentials = Effect.catchAll(read, () => Effect.succeed<Credentials>({}))

/** For who writes the file anew: what can't be read would be lost with it. */
const allCredentials = Effect.catchAll(read, (error) => {
  if (error._tag === "SystemError" && error.reason === "NotFound") return Effect.succeed<Credentials>({})
  const why = error._tag === "ParseError" ? "it is not as berth writes it" : error.message
  return Effect.flatMap(
    location,
    (file) => new CliFailure({ message: `${file} can't be read: ${why}. Mend or remove it`, code: exitCodes.badFile })
  )
})

/** More than what a login adds to the file. */
const roomBytes = 16 * 1024

const orUnwritable = (file: string) =>
  Effect.mapError((error: PlatformError) => unwritable(file, error, `${file} can't be written: ${error.message}`))

/**
 * Room on the disk for the file's next text, had before a server is asked: what it gives then can't be had again. The text
 * is written aside and renamed: a crash leaves the old file or the new one, and no moment has a wrong mode.
 */
const reserve = Effect.fn("cli.reserveCredentials")(function*(now: Credentials) {
  const files = yield* FileSystem.FileSystem
  const file = yield* location
  const aside = `${file}.new`
  const bytesOf = (credentials: Credentials) =>
    Effect.map(Effect.orDie(Schema.encode(Credentials)(credentials)), (text) => new TextEncoder().encode(text))
  yield* Effect.addFinalizer(() => Effect.ignore(files.remove(aside)))
  const { length } = yield* bytesOf(now)
  const open = yield* Effect.gen(function*() {
    const open = yield* files.open(aside, { flag: "w", mode: 0o600 })
    yield* open.writeAll(new Uint8Array(length + roomBytes).fill(32))
    return open
  }).pipe(orUnwritable(file))
  return Effect.fnUntraced(function*(next: Credentials) {
    const bytes = yield* bytesOf(next)
    yield* open.seek(0, "start")
    yield* open.writeAll(bytes)
    yield* open.truncate(bytes.length)
    yield* files.rename(aside, file)
  }, orUnwritable(file))
})

/**
 * Changes an installation's credential while no other process does: `change` gets what is kept, and answers with what is
 * kept from then on, if anything, and a result.
 */
export const changeCredential = <A, E, R>(
  origin: string,
  change: (kept: Credential | undefined) => Effect.Effect<readonly [Credential | undefined, A], E, R>
) =>
  Effect.gen(function*() {
    yield* credentialsFolder
    const file = yield* location
    return yield* Effect.gen(function*() {
      const all = yield* allCredentials
      const { [origin]: kept, ...others } = all
      const write = yield* reserve(all)
      const [next, result] = yield* change(kept)
      if (next !== kept) yield* write(next === undefined ? others : { ...others, [origin]: next })
      return result
      // What the installation has given by then is kept, also when Ctrl-C comes meanwhile.
    }).pipe(Effect.scoped, Effect.uninterruptible, withLock(`${file}.lock`))
  })

/** Keeps a credential in the user's configuration folder, readable only by the user; the file, and what was kept before. */
export const saveCredential = (url: string, credential: Credential) =>
  Effect.zipWith(
    location,
    changeCredential(new URL(url).origin, (kept) => Effect.succeed([credential, kept] as const)),
    (file, former) => ({ file, former })
  )

/**
 * The same where the disk has no room, and so nobody a lock: the rest is written over the old text, as long as that, which
 * takes no room and leaves JSON at each moment.
 */
const dropInPlace = (origin: string) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const file = yield* location
    const { [origin]: kept, ...others } = yield* allCredentials
    if (kept === undefined) return Option.none<Credential>()
    const rest = new TextEncoder().encode(yield* Effect.orDie(Schema.encode(Credentials)(others)))
    yield* Effect.gen(function*() {
      const bytes = new Uint8Array(Number((yield* files.stat(file)).size)).fill(32)
      bytes.set(rest)
      yield* (yield* files.open(file, { flag: "r+" })).writeAll(bytes)
    }).pipe(Effect.scoped, orUnwritable(file))
    return Option.some(kept)
  })

/** Removes the credential of an installation from the file, and returns it. */
export const dropCredential = (url: string) => {
  const { origin } = new URL(url)
  return changeCredential(origin, (kept) => Effect.succeed([undefined, Option.fromNullable(kept)] as const)).pipe(
    Effect.catchIf(isDiskFull, () => dropInPlace(origin))
  )
}
