import { callCommand, toolsCommand } from "#src/cli/mcp/commands.ts"
import { version } from "#src/config/version.ts"
import { CliConfig, Command, ValidationError } from "@effect/cli"
import { Effect } from "effect"
import { adminCommand } from "./admin-command.ts"
import { fail } from "./fail.ts"
import { loginCommand } from "./login-command.ts"
import { logoutCommand } from "./logout-command.ts"
import { withTidyOutput } from "./output.ts"
import { publishCommand } from "./publish-command.ts"
import { serveCommand } from "./serve-command.ts"

const berth = Command.make("berth").pipe(
  Command.withDescription("Host MCP servers, and use them. Each command has a --help of its own"),
  Command.withSubcommands([
    serveCommand,
    loginCommand,
    logoutCommand,
    toolsCommand,
    callCommand,
    publishCommand,
    adminCommand
  ])
)

const commandLine = Command.run(berth, { name: "berth", version })

/** Runs the command line; `argv` as Node gives it. An invalid one ends with one sentence and exit code 1. */
export const run = (argv: ReadonlyArray<string>) => {
  const words = argv.slice(2)
  const withDefault = words.length > 0 ? argv : [...argv, "--help"]
  return commandLine(withDefault).pipe(
    Effect.catchIf(ValidationError.isValidationError, () => {
      const command = words[0] !== undefined && /^[a-z]+$/.test(words[0]) ? words[0] : ""
      return fail(`See ${commands.has(command) ? `berth ${command}` : "berth"} --help`)
    }),
    Effect.provide(CliConfig.layer({ showBuiltIns: false })),
    withTidyOutput(words)
  )
}

const commands = new Set(["serve", "login", "logout", "tools", "call", "publish", "admin"])
