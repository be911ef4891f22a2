import { adminCommand } from "#src/cli/admin-command.ts"
import { callCommand, toolsCommand } from "#src/cli/mcp/commands.ts"
import { Command } from "@effect/cli"
import { NodeContext } from "@effect/platform-node"
import { ConfigProvider, Console, Effect } from "effect"
import { format } from "node:util"

const berth = Command.run(
  Command.make("berth").pipe(Command.withSubcommands([toolsCommand, callCommand, adminCommand])),
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

/** Runs the command line in this process, with its own console, environment and exit code. */
export const berthCli = async (args: ReadonlyArray<string>, env: Record<string, string> = {}): Promise<Output> => {
  const out: Array<string> = []
  const err: Array<string> = []
  const to = (lines: Array<string>) => (...values: ReadonlyArray<unknown>) =>
    Effect.sync(() => void lines.push(format(...values)))
  const console = { ...Effect.runSync(Console.consoleWith(Effect.succeed)), log: to(out), error: to(err) }
  process.exitCode = 0
  try {
    const exit = await berth(["node", "berth", ...args]).pipe(
      Effect.provide(NodeContext.layer),
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
