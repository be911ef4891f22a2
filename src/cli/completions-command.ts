import { Args, Command, CommandDescriptor } from "@effect/cli"
import { Effect } from "effect"
import { type Commands, root } from "./command.ts"
import { json, show } from "./json-output.ts"

const generators = {
  bash: CommandDescriptor.getBashCompletions,
  zsh: CommandDescriptor.getZshCompletions,
  fish: CommandDescriptor.getFishCompletions
} as const
const shells = ["bash", "zsh", "fish"] as const

/** Options of the library that no help of ours shows. */
const unshown = /^\s*'--(completions|log-level|wizard)\[|^complete .* -l (completions|log-level|wizard) /
/** Those that every command has. */
const common = /^\s*'(-h|--help|--version)\[|^complete .* -l (help|version) /

/** In bash a list of words: commands come first, then options, then those of every command. */
const reordered = (list: string) => {
  const words = list.split(" ").filter((word) => !/^--(completions|log-level|wizard)$/.test(word))
  const last = words.filter((word) => /^(-h|--help|--version)$/.test(word))
  const own = words.filter((word) => !last.includes(word))
  return [...own.filter((word) => !word.startsWith("-")), ...own.filter((word) => word.startsWith("-")), ...last]
    .join(" ")
}

/** The library's script, with what is ours before what every command has. */
const oursFirst = (lines: ReadonlyArray<string>) => {
  const tidy: Array<string> = []
  const held: Array<string> = []
  for (const line of lines) {
    if (unshown.test(line)) continue
    if (common.test(line)) {
      held.push(line)
      continue
    }
    // The options of a command in zsh end with its words, those in fish with the next command's.
    if (held.length > 0 && !/^\s*'-|^complete /.test(line)) tidy.push(...held.splice(0))
    tidy.push(line.replace(/(?<=^\s*opts=")[^"]+(?=")/, reordered))
  }
  return [...tidy, ...held]
}

const allOf = async (commands: Commands) => {
  const loading = Object.entries(commands).map(async ([name, { load }]) => [name, (await load()).descriptor] as const)
  const [first, ...rest] = await Promise.all(loading)
  return first === undefined ? root.descriptor : CommandDescriptor.withSubcommands(root.descriptor, [first, ...rest])
}

/** `berth completions SHELL`: the library has them as an option, which no help shows. */
export const completionsOf = (commands: () => Commands) =>
  Command.make(
    "completions",
    { shell: Args.choice(shells.map((shell) => [shell, shell] as const), { name: "shell" }), json },
    ({ json, shell }) =>
      Effect.gen(function*() {
        const all = yield* Effect.promise(() => allOf(commands()))
        const script = oursFirst(yield* generators[shell](all, "berth")).join("\n")
        yield* show(json, { shell, script }, () => script)
      })
  )
