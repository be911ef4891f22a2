import { Config, Console, Effect, Option } from "effect"
import { stripVTControlCharacters } from "node:util"
import { unbreakable } from "./log-output.ts"

/** Text that the library prints for each option and that only repeats the option's name. */
const noise =
  /^ *(A true or false value|A user-defined piece of text( that is confidential)?|This setting is optional|This option (can be set|may be repeated).*)\.$\n\n?/gm

/** Makes the usage line show the full command: `$ plan` becomes `berth admin plan`. */
const usage = (argv: ReadonlyArray<string>) => (line: string, rest: string) => {
  const word = /^\S+/.exec(rest)?.[0] ?? ""
  const at = argv.indexOf(word)
  return word === "berth" || at < 0 ? line.replace("$ ", "") : ["berth", ...argv.slice(0, at), rest].join(" ")
}

const row = /^ {2}- (.+?) {2,}(\S.*)$/
const rows = /(^ {2}- .*$\n*)+/m

/** The library's list of commands has all options of each in a line: here their names and what they do. */
const commandList = (text: string) => {
  const found = text.split("\n").flatMap((line) => {
    const [, usage = "", about = ""] = row.exec(line) ?? []
    return usage === "" ? [] : [[usage.replace(/ [[<(-].*$/, ""), about] as const]
  })
  const names = new Set(found.map(([name]) => name))
  // What has commands of its own tells them in its own help.
  const shown = found.filter(([name]) => !name.includes(" ") || !names.has(name.split(" ")[0] ?? ""))
  const width = Math.max(...shown.map(([name]) => name.length))
  return shown.map(([name, about]) => `  ${name.padEnd(width)}  ${about}\n`).join("")
}

const width = 80

/** Begins with spaces to put below the line's own text: of a list's row, what it does; of the usage, its options. */
const hanging = (line: string) =>
  " ".repeat(/^ {2}\S.*? {2,}(?=\S)/.exec(line)?.[0].length ?? /^ */.exec(line)?.[0].length ?? 0)

/** Breaks what is too long for a terminal, between words and within the brackets of an option only where it fills a line. */
const wrapped = (line: string) => {
  if (line.length <= width) return line
  const indent = line.startsWith("berth ") ? "  " : hanging(line)
  const lines: Array<string> = []
  let current = ""
  const parts = line.slice(indent.length).split(/ (?![^[\]()]*[\])])/)
  for (const word of parts.flatMap((part) => indent.length + part.length <= width ? [part] : part.split(" "))) {
    const longer = current === "" ? word : `${current} ${word}`
    if (current === "" || indent.length + longer.length <= width) current = longer
    else {
      lines.push(current)
      current = word
    }
  }
  const [first = "", ...rest] = [...lines, current]
  return [line.slice(0, indent.length) + first, ...rest.map((text) => indent + text)].join("\n")
}

/** Removes the repetitions from the library's help; leaves other text as it is. */
const tidyHelp = (text: string, argv: ReadonlyArray<string>) => {
  const plain = stripVTControlCharacters(text)
  if (!/^USAGE$/m.test(plain)) return text
  return plain.replace(noise, "").replace(/^\$ (.*)$/m, usage(argv)).replace(/^berth\n+/, "")
    .replace(rows, commandList).replace(/\n+(?=\n\n)/g, "").replace(/ +$/gm, "").trimEnd()
    .split("\n").map(wrapped).join("\n")
}

/**
 * Tidies help that goes to the current console, and prints colours only in terminals without `NO_COLOR` set
 * (no-color.org).
 */
export const withTidyOutput = (argv: ReadonlyArray<string>) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const noColor = Option.isSome(yield* Effect.option(Config.nonEmptyString("NO_COLOR")))
    const console = yield* Effect.map(Console.consoleWith(Effect.succeed), unbreakable)
    const tidy = (stream: NodeJS.WriteStream, print: Console.Console["log"]): Console.Console["log"] => (...values) =>
      print(...values.map((value) => {
        if (typeof value !== "string") return value
        const text = tidyHelp(value, argv)
        return stream.isTTY === true && !noColor ? text : stripVTControlCharacters(text)
      }))
    const log = tidy(process.stdout, console.log)
    return yield* Effect.withConsole(effect, { ...console, log, error: tidy(process.stderr, console.error) })
  })
