import { CliFailure, otherVersion } from "#src/cli/CliFailure.ts"
import { exitCodes } from "#src/cli/exit-codes.ts"
import { fail } from "#src/cli/fail.ts"
import { installationUrl, isInstallation, notInstallation } from "#src/cli/installation.ts"
import { savedToken } from "#src/cli/login/tokens.ts"
import { oneLine, printable } from "#src/cli/mcp/render.ts"
import { issuesOf } from "#src/format/issues.ts"
import { Options } from "@effect/cli"
import { type FileSystem, type Path } from "@effect/platform"
import { Config, Effect, Option, ParseResult, Predicate, Redacted } from "effect"

/** Where and as whom a command acts. */
export const access = {
  url: installationUrl,
  token: Options.redacted("token").pipe(
    Options.withDescription("A session or API key; when left out BERTH_TOKEN, or the login of berth login"),
    Options.withFallbackConfig(Config.redacted("BERTH_TOKEN")),
    Options.optional
  )
}
export interface Access {
  readonly url: string
  readonly token: Option.Option<Redacted.Redacted>
}

/** The installation's client, and what streams need. Loaded when a command runs, so that others start at once. */
export const connect = Effect.fn("cli.connect")(function*({ token, url }: Access) {
  if (!isInstallation(url)) return yield* new CliFailure({ message: notInstallation(url), code: exitCodes.failed })
  const root = url.replace(/\/$/, "")
  const context = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
  const loggedOut = new CliFailure({ message: `Log in first: berth login --url ${url}`, code: exitCodes.notLetIn })
  // Asked for each request: an access token is renewed while a long command runs.
  const bearer = Option.match(token, {
    onSome: (given) => Effect.succeed(Redacted.value(given)),
    onNone: () =>
      savedToken(`${root}/v1/servers`).pipe(
        Effect.flatMap(Option.match({ onNone: () => loggedOut, onSome: Effect.succeed })),
        Effect.mapError((error) =>
          error._tag === "CliFailure" ? error : new CliFailure({ message: error.message, code: exitCodes.badFile })
        ),
        Effect.provide(context)
      )
  })
  yield* bearer
  const { makeApi } = yield* Effect.promise(() => import("./api.ts"))
  return { api: yield* makeApi(root, bearer), root, bearer }
})
export type Connected = Effect.Effect.Success<ReturnType<typeof connect>>

/** The sentence and exit code of what ended a command, if it can be told. */
export const failureOf = (error: unknown, url: string): CliFailure | undefined => {
  if (error instanceof CliFailure) return error
  if (Predicate.hasProperty(error, "cause") && error.cause instanceof CliFailure) return error.cause
  if (Predicate.isTagged(error, "RequestError")) {
    return new CliFailure({
      message: `Nothing answers at ${url}; is berth running there? (--url says where)`,
      code: exitCodes.noAnswer
    })
  }
  if (Predicate.isTagged(error, "ResponseError")) {
    return new CliFailure({ message: otherVersion(url), code: exitCodes.failed })
  }
  // Answers that don't fit have become a `CliFailure` (`makeApi`): what is left is what was asked for.
  return ParseResult.isParseError(error)
    ? new CliFailure({
      message: issuesOf(error).map(({ message, path }) => path === "" ? message : `${path}: ${message}`).join("\n"),
      code: exitCodes.failed
    })
    : undefined
}

/** Ends a command that failed with its sentence and exit code. */
export const orEnd = (url: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.catchAll(effect, (error) => {
    const failure = failureOf(error, url)
    return failure === undefined ? Effect.fail(error) : fail(printable(failure.message), failure.code)
  })

/** Names and values, one below the other. */
export const facts = (pairs: Readonly<Record<string, string | null | undefined>>) => {
  const told = Object.entries(pairs).filter(([, value]) => value !== null && value !== undefined && value !== "")
  const width = Math.max(...told.map(([name]) => name.length))
  return told.map(([name, value]) => `${name.padEnd(width)}  ${oneLine(value ?? "")}`).join("\n")
}
