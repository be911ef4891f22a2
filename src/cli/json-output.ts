import { Options } from "@effect/cli"
import { Cause, Console, Context, Effect } from "effect"
import { exitCodes } from "./exit-codes.ts"
import { printable } from "./mcp/render.ts"

export const json = Options.boolean("json").pipe(Options.withDescription("Print the result as one JSON document"))

/** The result of a command: as JSON, or as text for people. */
export const show = (isJson: boolean, value: unknown, text: () => string) =>
  Console.log(isJson ? JSON.stringify(value, null, 2) : text())

/** Prints the error of a command that was given `--json`; there is none without it. */
class JsonErrors extends Context.Reference<JsonErrors>()("berth/cli/JsonErrors", {
  defaultValue: (): ((document: string) => Effect.Effect<void>) | undefined => undefined
}) {}

/** `deploymentFailed` as `DEPLOYMENT_FAILED`, like the codes of an installation's own errors. */
const nameOf = (code: number) => {
  const [name = "failed"] = Object.entries(exitCodes).find(([, value]) => value === code) ?? []
  return name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()
}

/**
 * Tells an error on standard error: a sentence, or with `--json` a document (docs/cli.md). An installation may have worded
 * it, which must not control the terminal.
 */
export const tellError = (message: string, exitCode: number) =>
  Effect.flatMap(JsonErrors, (print) =>
    print === undefined
      ? Console.error(printable(message))
      : print(JSON.stringify({ error: { code: nameOf(exitCode), message, exitCode } })))

/** Whether `--json` is among the words of a command line; after `--` there are no options. */
export const wantsJson = (words: ReadonlyArray<string>) => {
  const end = words.indexOf("--")
  return (end < 0 ? words : words.slice(0, end)).includes("--json")
}

const unexpected = (cause: Cause.Cause<unknown>) =>
  Effect.zipRight(
    tellError(Cause.pretty(cause), exitCodes.failed),
    Effect.sync(() => {
      process.exitCode = exitCodes.failed
    })
  )

/** With `--json`: standard error has nothing but the error's document. Hints and progress are for people. */
export const withJsonErrors = <A, E, R>(words: ReadonlyArray<string>, effect: Effect.Effect<A, E, R>) =>
  wantsJson(words)
    ? Console.consoleWith((console) =>
      effect.pipe(
        Effect.catchAllCause((cause) => Cause.isInterrupted(cause) ? Effect.failCause(cause) : unexpected(cause)),
        Effect.withConsole({ ...console, error: () => Effect.void }),
        Effect.provideService(JsonErrors, console.error)
      )
    )
    : effect
