import { version } from "#src/config/version.ts"
import { Command, CommandDescriptor, type Usage } from "@effect/cli"
import { type FileSystem, type HttpClient, type Path, type Terminal } from "@effect/platform"
import { type Effect, HashMap, Option } from "effect"

/** What a command may ask for. */
type Needs = FileSystem.FileSystem | HttpClient.HttpClient | Path.Path | Terminal.Terminal

type Descriptor = CommandDescriptor.Command<unknown>

/** A command whose module was loaded. */
export interface Loaded {
  readonly descriptor: Descriptor
  /** The commands below it, by name. */
  readonly children: ReadonlyMap<string, Descriptor>
  readonly run: (argv: ReadonlyArray<string>) => Effect.Effect<void, unknown, Needs>
}

/** Commands in the order of the help. Each is loaded when it is asked for: loading all takes longer than one runs. */
export type Commands = Readonly<Record<string, { readonly about: string; readonly load: () => Promise<Loaded> }>>

export const root = Command.make("berth").pipe(
  Command.withDescription("Host MCP servers, and use them. Each command has a --help of its own")
)

const loaded = <Name extends string, R extends Needs, E, A>(
  command: Command.Command<Name, R, E, A>
): Loaded => {
  const [own] = Command.getNames(command)
  // The library has a command that has none below it below itself.
  const below = HashMap.toEntries(Command.getSubcommands(command)).filter(([name]) => name !== own)
  return {
    descriptor: command.descriptor,
    children: new Map(below),
    run: Command.run(Command.withSubcommands(root, [command]), { name: "berth", version })
  }
}

/** A command by its description and what imports it. */
export const lazy = <Name extends string, R extends Needs, E, A>(
  about: string,
  load: () => Promise<Command.Command<Name, R, E, A>>
): Commands[string] => ({ about, load: async () => loaded(Command.withDescription(await load(), about)) })

/** An option's names, and whether a value follows it. */
export interface OptionNames {
  readonly names: ReadonlyArray<string>
  readonly takesValue: boolean
}

const optionsIn = (usage: Usage.Usage): ReadonlyArray<OptionNames> => {
  switch (usage._tag) {
    case "Named":
      return usage.names.some((name) => name.startsWith("-"))
        ? [{ names: usage.names, takesValue: Option.isSome(usage.acceptedValues) }]
        : []
    case "Optional":
    case "Repeated":
      return optionsIn(usage.usage)
    case "Alternation":
    case "Concat":
      return [...optionsIn(usage.left), ...optionsIn(usage.right)]
    default:
      return []
  }
}

export const optionsOf = (command: Descriptor) => optionsIn(CommandDescriptor.getUsage(command))
