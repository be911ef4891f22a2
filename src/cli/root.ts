import { clientCommands } from "./client-commands.ts"
import { commandLine } from "./command-line.ts"
import { type Commands, lazy } from "./command.ts"
import { completions } from "./completions.ts"

const { schema, ...forServers } = clientCommands

/** All commands of the program: those that run the platform too. */
export const commands: Commands = {
  serve: lazy(
    "Run the platform: database, machines, gateway, HTTP and MCP on one port",
    async () => (await import("./serve-command.ts")).serveCommand
  ),
  ...forServers,
  admin: lazy(
    "Operate an installation (needs its settings and database)",
    async () => (await import("./admin-command.ts")).adminCommand
  ),
  schema,
  completions: completions(() => commands)
}

export const run = commandLine(commands)
