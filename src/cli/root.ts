import { callCommand, toolsCommand } from "#src/cli/mcp/commands.ts"
import { version } from "#src/config/version.ts"
import { didYouMean } from "#src/shared/nearest.ts"
import { Args, CliConfig, Command, ValidationError } from "@effect/cli"
import { Effect, HashMap } from "effect"
import { adminCommand } from "./admin-command.ts"
import { fail } from "./fail.ts"
import { connectCommand } from "./hosting/connect-command.ts"
import { deployCommand } from "./hosting/deploy-command.ts"
import { envCommand } from "./hosting/env-commands.ts"
import { initCommand, schemaCommand } from "./hosting/init-command.ts"
import { logsCommand } from "./hosting/logs-command.ts"
import { registriesCommand } from "./hosting/registry-commands.ts"
import { rollbackCommand } from "./hosting/rollback-command.ts"
import { serversCommand, statusCommand, tokenCommand } from "./hosting/server-commands.ts"
import { loginCommand } from "./login-command.ts"
import { logoutCommand } from "./logout-command.ts"
import { withTidyOutput } from "./output.ts"
import { publishCommand } from "./publish-command.ts"
import { serveCommand } from "./serve-command.ts"

const shells = ["bash", "zsh", "fish"] as const

/** `berth completions SHELL`: the library has them as an option, which no help shows. */
const completionsCommand = Command.make("completions", {
  shell: Args.choice(shells.map((shell) => [shell, shell] as const), { name: "shell" })
}).pipe(Command.withDescription("Print completions, for example: berth completions bash > ~/.bash_completion.d/berth"))

const subcommands = [
  serveCommand,
  loginCommand,
  logoutCommand,
  initCommand,
  deployCommand,
  rollbackCommand,
  serversCommand,
  statusCommand,
  logsCommand,
  envCommand,
  registriesCommand,
  tokenCommand,
  connectCommand,
  publishCommand,
  toolsCommand,
  callCommand,
  adminCommand,
  schemaCommand,
  completionsCommand
] as const
const berth = Command.make("berth").pipe(
  Command.withDescription("Host MCP servers, and use them. Each command has a --help of its own"),
  Command.withSubcommands(subcommands)
)

const commandLine = Command.run(berth, { name: "berth", version })

const namesOf = (found: ReturnType<typeof Command.getSubcommands>) => [...HashMap.keys(found)]
/** Commands that have commands of their own: the library's list of those below another has only the others. */
const groups = new Map([
  ["env", namesOf(Command.getSubcommands(envCommand))],
  ["admin", namesOf(Command.getSubcommands(adminCommand))]
])

/** What to say of a mistyped command; undefined where the words are commands, or begin with an option. */
const mistyped = ([first = "", second = ""]: ReadonlyArray<string>) => {
  if (first === "" || first.startsWith("-")) return undefined
  if (!commands.has(first)) return unknownCommand("berth", first, [...commands])
  const own = groups.get(first)
  return own === undefined || second === "" || second.startsWith("-") || own.includes(second)
    ? undefined
    : unknownCommand(`berth ${first}`, second, own)
}
const unknownCommand = (of: string, word: string, among: ReadonlyArray<string>) =>
  `Invalid subcommand for ${of}: ${JSON.stringify(word)}.${didYouMean(word, among)}\n\nSee ${of} --help`

/** Runs the command line; `argv` as Node gives it. An invalid one ends with one sentence and exit code 1. */
export const run = (argv: ReadonlyArray<string>) => {
  const words = argv.slice(2)
  const shell = words[0] === "completions" ? shells.find((name) => name === words[1]) : undefined
  const given = words.length === 0 ? ["--help"] : shell === undefined ? words : ["--completions", shell]
  const mistake = mistyped(words)
  if (mistake !== undefined) return withTidyOutput(words)(fail(mistake))
  return commandLine([...argv.slice(0, 2), ...given]).pipe(
    Effect.catchIf(ValidationError.isValidationError, () => {
      const command = words[0] !== undefined && /^[a-z]+$/.test(words[0]) ? words[0] : ""
      return fail(`See ${commands.has(command) ? `berth ${command}` : "berth"} --help`)
    }),
    Effect.provide(CliConfig.layer({ showBuiltIns: false })),
    withTidyOutput(words)
  )
}

const commands = new Set(namesOf(Command.getSubcommands(berth)))
