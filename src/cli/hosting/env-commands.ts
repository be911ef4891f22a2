import { CliFailure } from "#src/cli/CliFailure.ts"
import { exitCodes } from "#src/cli/exit-codes.ts"
import { fail } from "#src/cli/fail.ts"
import { json, show } from "#src/cli/json-output.ts"
import { unreadable } from "#src/cli/unreadable.ts"
import { word } from "#src/cli/word.ts"
import { isVariableName } from "#src/servers/EnvironmentVariable.ts"
import { Args, Command, Prompt } from "@effect/cli"
import { FileSystem, Terminal } from "@effect/platform"
import { Console, Effect, Option, Redacted } from "effect"
import { text } from "node:stream/consumers"
import { parseEnv } from "node:util"
import { access, connect, type Connected, orEnd } from "./platform.ts"
import { findServer, target } from "./target.ts"

const options = { ...access, ...target, json }
const later = Console.error("It counts from the next deployment on: berth deploy")

const setAll = Effect.fn("cli.setVariables")(function*(
  { api }: Connected,
  serverId: string,
  variables: ReadonlyArray<readonly [name: string, value: string]>,
  code: number = exitCodes.failed
) {
  // All names are looked at before the first is set: a wrong one leaves nothing half done.
  const wrong = variables.flatMap(([name]) => isVariableName(name) ? [] : [name])
  if (wrong.length > 0) {
    const message =
      `${wrong.join(", ")}: a variable's name is upper-case letters, digits and underscores, at most 255, ` +
      "and does not begin with a digit. Nothing was set"
    return yield* new CliFailure({ message, code })
  }
  for (const [name, value] of variables) {
    yield* api.environment.set({ path: { serverId }, payload: { name, value } })
  }
})

/** A value that stands in no shell's history: typed, or from standard input; "" where there is none. */
export const secretOf = Effect.fn("cli.secretOf")(function*(name: string) {
  if (yield* (yield* Terminal.Terminal).isTTY) {
    return Redacted.value(yield* Prompt.password({ message: name }))
  }
  return (yield* Effect.promise(() => text(process.stdin))).replace(/\r?\n$/, "")
})

const given = word("variable").pipe(
  Args.withDescription(
    "NAME=VALUE, or NAME= for an empty one; or NAME alone, whose value is asked for, or read from standard input"
  ),
  Args.atLeast(1)
)

const setCommand = Command.make(
  "set",
  { given, ...options },
  ({ config, given, json, server, token, url }) =>
    Effect.gen(function*() {
      const asked = given.filter((one) => !one.includes("="))
      if (asked.length > 1 && !(yield* (yield* Terminal.Terminal).isTTY)) {
        return yield* new CliFailure({
          message: "Standard input has the value of one variable: give the others as NAME=VALUE",
          code: exitCodes.failed
        })
      }
      const variables: Array<readonly [string, string]> = []
      for (const one of given) {
        const at = one.indexOf("=")
        const value = at < 0 ? yield* secretOf(one) : one.slice(at + 1)
        // A command before the pipe that has failed would clear a secret.
        if (at < 0 && value === "") {
          return yield* new CliFailure({
            message: `No value for ${one} was given, and nothing was set. ${one}= sets an empty one`,
            code: exitCodes.failed
          })
        }
        variables.push([at < 0 ? one : one.slice(0, at), value])
      }
      const connected = yield* connect({ url, token })
      yield* setAll(connected, (yield* findServer(connected, { config, server })).id, variables)
      const names = variables.map(([name]) => name)
      yield* show(json, names, () => `Set ${names.join(", ")}`)
      yield* later
    }).pipe(orEnd(url), Effect.catchTag("QuitException", () => fail("Cancelled")))
).pipe(
  Command.withDescription("Set environment variables; their values are encrypted and never shown")
)

const listCommand = Command.make("list", options, ({ config, json, server, token, url }) =>
  Effect.gen(function*() {
    const connected = yield* connect({ url, token })
    const { id } = yield* findServer(connected, { config, server })
    const { data } = yield* connected.api.environment.names({ path: { serverId: id } })
    yield* show(json, data, () => data.length === 0 ? "No variable is set" : data.join("\n"))
  }).pipe(orEnd(url))).pipe(Command.withDescription("List the names of a server's environment variables"))

const names = word("name").pipe(Args.atLeast(1))

const unsetCommand = Command.make(
  "unset",
  { names, ...options },
  ({ config, json, names, server, token, url }) =>
    Effect.gen(function*() {
      const connected = yield* connect({ url, token })
      const { id } = yield* findServer(connected, { config, server })
      for (const name of names) yield* connected.api.environment.remove({ path: { serverId: id, name } })
      yield* show(json, names, () => `Removed ${names.join(", ")}`)
      yield* later
    }).pipe(orEnd(url))
).pipe(Command.withDescription("Remove environment variables"))

const file = word("file").pipe(Args.withDescription("Such as .env: lines of NAME=VALUE"), Args.optional)

const importCommand = Command.make(
  "import",
  { file, ...options },
  ({ config, file, json, server, token, url }) =>
    Effect.gen(function*() {
      const path = Option.getOrElse(file, () => ".env")
      const content = yield* (yield* FileSystem.FileSystem).readFileString(path).pipe(
        Effect.mapError((error) => new CliFailure({ message: unreadable(path, error), code: exitCodes.badFile }))
      )
      const variables = Object.entries(parseEnv(content)).map(([name, value]) => [name, value ?? ""] as const)
      if (variables.length === 0) {
        return yield* new CliFailure({ message: `${path} has no line NAME=VALUE`, code: exitCodes.badFile })
      }
      const connected = yield* connect({ url, token })
      yield* setAll(connected, (yield* findServer(connected, { config, server })).id, variables, exitCodes.badFile)
      const names = variables.map(([name]) => name)
      yield* show(json, names, () => `Set ${names.join(", ")}`)
      yield* later
    }).pipe(orEnd(url))
).pipe(Command.withDescription("Set the variables of a file"))

/** `berth env set|list|unset|import`. */
export const envCommand = Command.make("env").pipe(
  Command.withSubcommands([setCommand, listCommand, unsetCommand, importCommand])
)
