import { Command } from "@effect/cli"
import { version } from "../version.ts"
import { adminCommand } from "./adminCommand.ts"
import { loginCommand } from "./loginCommand.ts"
import { callCommand, toolsCommand } from "./mcp/commands.ts"
import { serveCommand } from "./serveCommand.ts"

const berth = Command.make("berth").pipe(
  Command.withDescription("Host MCP servers, and use them"),
  Command.withSubcommands([serveCommand, loginCommand, toolsCommand, callCommand, adminCommand])
)

/** The command line; `argv` as Node gives it. */
export const run = Command.run(berth, { name: "berth", version })
