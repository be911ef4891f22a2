import { printable, table } from "#src/cli/mcp/render.ts"
import { issuesOf } from "#src/format/issues.ts"
import { didYouMean } from "#src/format/nearest.ts"
import { shellQuoted } from "#src/format/shell.ts"
import { Mappings, PriceCandidates, SourceProgram, SuggestedMappings, Target } from "#src/imports/Mappings.ts"
import { priceColumn } from "#src/imports/price-columns.ts"
import { DryRun } from "#src/publishing/Publication.ts"
import { Prompt } from "@effect/cli"
import { Terminal } from "@effect/platform"
import { type CallToolResult } from "@modelcontextprotocol/sdk/types.js"
import { Console, Effect, Either, Mailbox, Option, Schema, Stream } from "effect"

const isTarget = Schema.is(Target)

const noSuchField = (pair: string, field: string) =>
  `--map ${shellQuoted(pair)}: there is no field "${field}".${didYouMean(field, Target.literals)} ` +
  `Fields: ${Target.literals.filter((name) => name !== "ignore").join(", ")}; ignore leaves a column out`

/** `Price (USD)=price` pairs. A column may have an equals sign in its name; a field has none. Left: what is wrong. */
export const mappingsOf = (pairs: ReadonlyArray<string>): Either.Either<Mappings, string> => {
  const entries = pairs.map((pair) => [pair.slice(0, pair.lastIndexOf("=")), pair.slice(pair.lastIndexOf("=") + 1)])
  const wrong = pairs.find((pair) => pair.lastIndexOf("=") < 1)
  if (wrong !== undefined) return Either.left(`--map takes COLUMN=FIELD, not "${wrong}"`)
  const columns = entries.map(([column]) => column)
  const twice = columns.find((column, at) => columns.indexOf(column) !== at)
  if (twice !== undefined) return Either.left(`--map names the column "${twice}" twice`)
  const unknown = entries.find(([, field]) => !isTarget(field))
  if (unknown !== undefined) return Either.left(noSuchField(unknown.join("="), unknown[1] ?? ""))
  return Schema.decodeUnknownEither(Mappings)(Object.fromEntries(entries)).pipe(
    Either.mapLeft((error) =>
      issuesOf(error).map(({ message, path }) => `--map: ${path === "" ? "" : `"${path}" `}${message}`).join("\n")
    )
  )
}

/** The mapping as options of the command. */
export const asOptions = (mappings: Mappings) =>
  Object.entries(mappings).map(([column, target]) => `--map ${shellQuoted(`${column}=${target}`)}`).join(" ")

const Refusal = Schema.parseJson(Schema.Struct({
  error: Schema.Struct({
    message: Schema.String,
    details: Schema.Struct({
      suggested_mappings: SuggestedMappings,
      price_candidates: PriceCandidates,
      source_program: SourceProgram
    })
  })
}))
const refusalIn = Schema.decodeUnknownOption(Refusal)
const dryRunIn = Schema.decodeUnknownOption(DryRun)

export interface Finding {
  readonly suggested: Mappings
  /** Columns of which one may be the price. */
  readonly undecided: ReadonlyArray<string>
  readonly program: string | null
  /** Why the file can't be published as it is. */
  readonly refusal: string | null
  /** What is told of columns that are left out and not suggested. */
  readonly leftOut?: ReadonlyArray<string>
}

/** Other columns of prices: who takes the suggestion would lose them unasked. */
const leftOutOf = ({ suggested_mappings, warnings }: typeof DryRun.Type) =>
  warnings.flatMap(({ context = "", message }) => {
    const column = /^column (.*)$/s.exec(context)?.[1]
    return column === undefined || Object.hasOwn(suggested_mappings, column) ? [] : [message]
  })

/** What a dry run, or a refused publication, says of columns that are not imported. None: it is about something else. */
export const findingIn = ({ content: [first], structuredContent }: CallToolResult): Option.Option<Finding> =>
  Option.orElse(
    Option.map(dryRunIn(structuredContent), (run) => ({
      suggested: run.suggested_mappings,
      undecided: run.price_candidates,
      program: run.source_program,
      refusal: run.refusal,
      leftOut: leftOutOf(run)
    })),
    () =>
      Option.map(refusalIn(first?.type === "text" ? first.text : ""), ({ error: { details, message } }) => ({
        suggested: details.suggested_mappings,
        undecided: details.price_candidates,
        program: details.source_program,
        refusal: message
      }))
  )

const no: Terminal.UserInput = {
  input: Option.some("n"),
  key: { name: "n", ctrl: false, meta: false, shift: false }
}

/** The standard input is no terminal, and has ended: no key will come. */
const inputEnded = Effect.async<Terminal.UserInput>((resume) => {
  const answer = () => resume(Effect.succeed(no))
  if (process.stdin.readableEnded) return answer()
  process.stdin.once("end", answer)
  return Effect.sync(() => process.stdin.off("end", answer))
})

/** The terminal, where Ctrl-D and the end of the input answer a question with no. */
const withEndAsNo = Effect.map(Terminal.Terminal, (terminal) => ({
  ...terminal,
  readInput: Effect.flatMap(terminal.readInput, (keys) =>
    Mailbox.fromStream(
      Mailbox.toStream(keys).pipe(
        Stream.map((input) => input.key.ctrl && input.key.name === "d" ? no : input),
        Stream.merge(Stream.fromEffect(inputEnded), { haltStrategy: "left" })
      )
    ))
}))

const ask = (message: string, initial: boolean) =>
  Effect.flatMap(
    withEndAsNo,
    (terminal) => Effect.provideService(Prompt.confirm({ message, initial }), Terminal.Terminal, terminal)
  )

/** Asks of each column whether it is the price; none when all answers are no. */
const askForPrice = Effect.fn("cli.askForPrice")(function*(candidates: ReadonlyArray<string>) {
  for (const column of candidates) {
    if (!(yield* ask(`Is ${JSON.stringify(printable(column))} what customers pay?`, false))) continue
    const others = candidates.filter((other) => other !== column).map((other) => [other, "ignore"] as const)
    const target = priceColumn({ name: column, cells: [] }).inCents ? "price_cents" : "price"
    return Option.some<Mappings>({ [column]: target, ...Object.fromEntries(others) })
  }
  return Option.none<Mappings>()
})

/** Shows a suggestion and what only the owner knows, and asks. None: the answer is no. */
export const askForMapping = Effect.fn("cli.askForMapping")(
  function*(file: string, { leftOut = [], program, refusal, suggested, undecided }: Finding) {
    const known = program === null ? "" : ` It looks like an export of ${program}.`
    const rows = Object.entries(suggested).map(([column, target]) => [`  ${printable(column)}`, target])
    yield* Console.error(`${file} has columns that would not be imported.${known}`)
    if (rows.length > 0) yield* Console.error(table(["  COLUMN", "FIELD"], rows))
    for (const message of leftOut) yield* Console.error(printable(message))
    if (rows.length > 0 && !(yield* ask("Import them as these fields?", true))) return Option.none<Mappings>()
    if (undecided.length === 0) return Option.some(suggested)
    yield* Console.error(printable(refusal ?? ""))
    return Option.map(yield* askForPrice(undecided), (price) => ({ ...suggested, ...price }))
  }
)

const fieldOf = (target: string) => target === "price_cents" ? "price" : target

/** A suggestion goes before what was given for the same field, which then had nothing to import. */
export const withSuggestion = (own: Mappings, suggested: Mappings): Mappings => {
  const fields = new Set(Object.values(suggested).map(fieldOf))
  return {
    ...Object.fromEntries(Object.entries(own).filter(([, target]) => !fields.has(fieldOf(target)))),
    ...suggested
  }
}
