import { version } from "#src/config/version.ts"
import { CliConfig, Command, HelpDoc, ValidationError } from "@effect/cli"
import { Effect } from "effect"
import { stripVTControlCharacters } from "node:util"
import { type Commands, root } from "./command.ts"
import { fail } from "./fail.ts"
import { wantsJson, withJsonErrors } from "./json-output.ts"
import { commandIn, type Mistake, mistypedIn, unknownCommand, unknownOption } from "./mistyped.ts"
import { withTidyOutput } from "./output.ts"

const refuse = ({ message, of }: Mistake) => fail(`${message}\n\nSee ${of} --help`)

/** Runs a command line; a failure of the library's parser ends with a sentence, a hint and exit code 1. */
const orHint = (words: ReadonlyArray<string>, of: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.catchIf(effect, (error) => ValidationError.isValidationError(error), (error) => {
    const { error: help } = error as unknown as ValidationError.ValidationError
    // The library has printed what is wrong, for people.
    const message = wantsJson(words) ? `${stripVTControlCharacters(HelpDoc.toAnsiText(help)).trim()}\n\n` : ""
    return fail(`${message}See ${of} --help`)
  })

/** What `berth` does without a command: its help or version, for which none has to be loaded. */
const alone = (commands: Commands) => {
  const [first, ...rest] = Object.entries(commands).map(([name, { about }]) =>
    Command.make(name).pipe(Command.withDescription(about))
  )
  const program = { name: "berth", version }
  return first === undefined
    ? Command.run(root, program)
    : Command.run(Command.withSubcommands(root, [first, ...rest]), program)
}

const runWords = (commands: Commands, argv: ReadonlyArray<string>, words: ReadonlyArray<string>) => {
  const [first = ""] = words
  if (first === "" || first.startsWith("-")) {
    const [name = ""] = first.split("=")
    if (name.startsWith("--") && !/^--(help|version|log-level|wizard|completions)$/.test(name)) {
      return refuse(unknownOption("berth", name, []))
    }
    return alone(commands)([...argv.slice(0, 2), ...(first === "" ? ["--help"] : words)]).pipe(orHint(words, "berth"))
  }
  const command = Object.hasOwn(commands, first) ? commands[first] : undefined
  if (command === undefined) return refuse(unknownCommand("berth", first, Object.keys(commands)))
  return Effect.flatMap(Effect.promise(command.load), (loaded) => {
    const mistake = words.some((word) => word === "--help" || word === "-h") ? undefined : mistypedIn(loaded, words)
    return mistake === undefined
      ? loaded.run(argv).pipe(orHint(words, commandIn(loaded, words)))
      : refuse(mistake)
  })
}

/** The program of a table of commands; it takes `argv` as Node gives it. */
export const commandLine = (commands: Commands) => (argv: ReadonlyArray<string>) => {
  const words = argv.slice(2)
  return withJsonErrors(words, runWords(commands, argv, words)).pipe(
    Effect.provide(CliConfig.layer({ showBuiltIns: false })),
    withTidyOutput(words)
  )
}
