import { adminCommand } from "#src/cli/admin-command.ts"
import { connectCommand } from "#src/cli/hosting/connect-command.ts"
import { deployCommand } from "#src/cli/hosting/deploy-command.ts"
import { envCommand } from "#src/cli/hosting/env-commands.ts"
import { initCommand, schemaCommand } from "#src/cli/hosting/init-command.ts"
import { logsCommand } from "#src/cli/hosting/logs-command.ts"
import { registriesCommand } from "#src/cli/hosting/registry-commands.ts"
import { rollbackCommand } from "#src/cli/hosting/rollback-command.ts"
import { serversCommand, statusCommand, tokenCommand } from "#src/cli/hosting/server-commands.ts"
import { callCommand, toolsCommand } from "#src/cli/mcp/commands.ts"
import { publishCommand } from "#src/cli/publish-command.ts"
import { Command } from "@effect/cli"
import { FetchHttpClient, Terminal } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { ConfigProvider, Console, Effect, Layer, Mailbox, Option } from "effect"
import { format } from "node:util"

const berth = Command.run(
  Command.make("berth").pipe(Command.withSubcommands([
    toolsCommand,
    callCommand,
    adminCommand,
    publishCommand,
    initCommand,
    schemaCommand,
    deployCommand,
    rollbackCommand,
    serversCommand,
    statusCommand,
    logsCommand,
    envCommand,
    registriesCommand,
    tokenCommand,
    connectCommand
  ])),
  {
    name: "berth",
    version: "0"
  }
)

export interface Output {
  readonly code: number
  readonly out: string
  readonly err: string
}

export const ctrlD = "\u0004"

/** A terminal where somebody presses these keys, or none. */
const terminalOf = (keys: string | undefined) =>
  Layer.succeed(Terminal.Terminal, {
    columns: Effect.succeed(80),
    rows: Effect.succeed(24),
    isTTY: Effect.succeed(keys !== undefined),
    readLine: new Terminal.QuitException(),
    display: () => Effect.void,
    readInput: Effect.gen(function*() {
      const pressed = yield* Mailbox.make<Terminal.UserInput>()
      for (const name of keys ?? "") {
        const key = name === ctrlD ? { name: "d", ctrl: true } : { name, ctrl: false }
        yield* pressed.offer({ input: Option.some(name), key: { ...key, meta: false, shift: false } })
      }
      return pressed
    })
  })

/** Runs the command line in this process, with its own console, environment, terminal and exit code. */
export const berthCli = async (
  args: ReadonlyArray<string>,
  env: Record<string, string> = {},
  keys?: string
): Promise<Output> => {
  const out: Array<string> = []
  const err: Array<string> = []
  const to = (lines: Array<string>) => (...values: ReadonlyArray<unknown>) =>
    Effect.sync(() => void lines.push(format(...values)))
  const console = { ...Effect.runSync(Console.consoleWith(Effect.succeed)), log: to(out), error: to(err) }
  process.exitCode = 0
  try {
    const exit = await berth(["node", "berth", ...args]).pipe(
      Effect.provide(Layer.mergeAll(NodeContext.layer, FetchHttpClient.layer, terminalOf(keys))),
      Effect.withConsole(console),
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(env)))),
      Effect.exit,
      Effect.runPromise
    )
    const code = exit._tag === "Failure" ? 1 : Number(process.exitCode)
    return { code, out: out.join("\n"), err: err.join("\n") }
  } finally {
    process.exitCode = 0
  }
}
