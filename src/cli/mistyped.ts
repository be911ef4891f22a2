import { didYouMean } from "#src/format/nearest.ts"
import { type CommandDescriptor } from "@effect/cli"
import { type Loaded, optionsOf } from "./command.ts"

/** What is wrong with a command line, and whose help says what is right. */
export interface Mistake {
  readonly message: string
  readonly of: string
}

/** Options that the library has for every command. */
const builtIn = ["--help", "--version", "--log-level", "--wizard", "--completions"]
/** What the help shows of them. */
const shown = ["--help", "--version"]

export const unknownCommand = (of: string, word: string, among: ReadonlyArray<string>): Mistake => ({
  message: `${of} has no command ${JSON.stringify(word)}.${didYouMean(word, among)}`,
  of
})

export const unknownOption = (of: string, word: string, among: ReadonlyArray<string>): Mistake => ({
  message: `${of} has no option ${word}.${didYouMean(word, [...among, ...shown])}`,
  of
})

/** The first long option that the command has not. Words after an option that takes a value are values. */
const wrongOption = (of: string, command: CommandDescriptor.Command<unknown>, words: ReadonlyArray<string>) => {
  const options = optionsOf(command)
  const names = options.flatMap(({ names }) => names)
  for (let at = 0; at < words.length; at++) {
    const [name = "", value] = words[at]?.split("=", 2) ?? []
    if (name === "--") return undefined
    const option = options.find(({ names }) => names.includes(name))
    if (option?.takesValue === true && value === undefined) at++
    if (option === undefined && name.startsWith("--") && !builtIn.includes(name)) {
      return unknownOption(of, name, names.filter((known) => known.startsWith("--")))
    }
  }
  return undefined
}

/** What is mistyped in the words of a command; undefined where nothing is, or the library tells it as well. */
export const mistypedIn = ({ children, descriptor }: Loaded, words: ReadonlyArray<string>): Mistake | undefined => {
  const [first = "", second = "", ...rest] = words
  const of = `berth ${first}`
  if (children.size === 0) return wrongOption(of, descriptor, words.slice(1))
  if (second === "") return undefined
  const child = children.get(second)
  if (child !== undefined) return wrongOption(`${of} ${second}`, child, rest)
  return second.startsWith("-")
    ? wrongOption(of, descriptor, words.slice(1))
    : unknownCommand(of, second, [...children.keys()])
}

/** The words of a command line that name its command: `berth env set` of `berth env set A=1`. */
export const commandIn = ({ children }: Loaded, [first = "", second = ""]: ReadonlyArray<string>) =>
  children.has(second) ? `berth ${first} ${second}` : `berth ${first}`
