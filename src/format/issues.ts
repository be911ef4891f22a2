import { Either, Option, ParseResult, Predicate, SchemaAST as AST } from "effect"
import { didYouMean } from "./nearest.ts"

/** Where a value breaks its schema: `path` is dotted, empty for the root. `message` follows the path in a sentence. */
export interface Issue {
  readonly path: string
  readonly message: string
}

interface Fault {
  readonly path: ReadonlyArray<PropertyKey>
  readonly message: string
  /** Of a field too much: the fields that there are. */
  readonly known?: ReadonlyArray<string>
}

const notValid = "is not valid"
const notKnown = "is not a known field"

/** Of a field that a schema does not have; `known` are those that it has. */
export const unknownField = (name: string, known: ReadonlyArray<string>) => {
  const hint = didYouMean(name, known)
  return hint === "" ? notKnown : `${notKnown}.${hint}`
}

const jsonSchemaOf = (ast: AST.AST) =>
  Option.getOrElse(AST.getJSONSchemaAnnotation(ast), () => ({})) as Readonly<Record<string, unknown>>

const unrefined = (ast: AST.AST): AST.AST => AST.isRefinement(ast) ? unrefined(ast.from) : ast

/** The merged JSON Schema annotations of a chain of refinements. */
const rules = (ast: AST.AST): Readonly<Record<string, unknown>> =>
  AST.isRefinement(ast) ? { ...rules(ast.from), ...jsonSchemaOf(ast) } : {}

const range = ({ exclusiveMinimum, maximum, minimum, type }: Readonly<Record<string, unknown>>) => {
  const least = type === "integer" && typeof exclusiveMinimum === "number" ? exclusiveMinimum + 1 : minimum
  if (least !== undefined && maximum !== undefined) return ` between ${least} and ${maximum}`
  if (least !== undefined) return ` of at least ${least}`
  return maximum === undefined ? "" : ` of at most ${maximum}`
}

/** The name of a type, to follow "must be"; undefined for types that are internal. */
const nameOf = (ast: AST.AST): string | undefined => {
  switch (ast._tag) {
    case "StringKeyword":
    case "TemplateLiteral":
      return "a string"
    case "NumberKeyword":
      return "a number"
    case "BooleanKeyword":
      return "true or false"
    case "Literal":
      return String(ast.literal)
    case "TypeLiteral":
    case "ObjectKeyword":
      return "an object"
    case "TupleType":
      return "an array"
    case "Union":
      return anyOf(ast.types)
    case "Refinement": {
      const base = nameOf(unrefined(ast))
      const merged = rules(ast)
      return base === "a number" ? `${merged["type"] === "integer" ? "an integer" : base}${range(merged)}` : base
    }
    case "Transformation":
      // A number in a query is text decoded to a number, so its name is the target's. A struct with defaults has the
      // name of its source, because its defaults don't concern the caller.
      return nameOf(AST.isTypeLiteral(ast.from) ? ast.from : ast.to)
    case "Suspend":
      return nameOf(ast.f())
    default:
      return undefined
  }
}

const anyOf = (types: ReadonlyArray<AST.AST>) => {
  const isChoice = (ast: AST.AST) => AST.isLiteral(ast) && ast.literal !== null
  const choices = types.filter(isChoice).flatMap((ast) => nameOf(ast) ?? [])
  const others = types.filter((ast) => !isChoice(ast)).flatMap((ast) => nameOf(ast) ?? [])
  const listed = choices.length > 1 ? [`one of ${choices.join(", ")}`] : choices
  return [...listed, ...others].join(", or ") || undefined
}

const mustBe = (ast: AST.AST) => {
  const name = nameOf(ast)
  return name === undefined ? notValid : `must be ${name}`
}

/** The message of each refinement by its JSON Schema keyword; for refinements without a message annotation. */
const ruleMessages: ReadonlyArray<readonly [rule: string, message: (value: unknown) => string]> = [
  ["minLength", (least) => least === 1 ? "must not be empty" : `must be at least ${least} characters`],
  ["maxLength", (most) => `must be at most ${most} characters`],
  ["minItems", (least) => `must have at least ${least} ${least === 1 ? "item" : "items"}`],
  ["maxItems", (most) => `must have at most ${most} ${most === 1 ? "item" : "items"}`],
  ["uniqueItems", () => "must not repeat an item"],
  ["pattern", () => "is not in the right form"]
]

const refinementMessage = (ast: AST.Refinement, outermost: AST.AST) => {
  const own = jsonSchemaOf(ast)
  const match = ruleMessages.find(([rule]) => own[rule] !== undefined)
  if (match !== undefined) {
    const [rule, message] = match
    return message(own[rule])
  }
  return nameOf(unrefined(ast)) === "a number" ? mustBe(outermost) : notValid
}

/** The message annotation of a schema. */
const annotated = (issue: ParseResult.ParseIssue): string | undefined => {
  if (!("ast" in issue)) return undefined
  const message = Option.map(AST.getMessageAnnotation(issue.ast as AST.AST), (annotation) => annotation(issue))
  return Option.getOrUndefined(Option.filter(message, Predicate.isString))
}

const single = (message: string): ReadonlyArray<Fault> => [{ path: [], message }]

/** Merges the faults of a union's members: a member's own message if there is one, else what the value may be. */
const mergedFaults = (union: AST.Union, faults: ReadonlyArray<Fault>): ReadonlyArray<Fault> => {
  const nested = faults.filter(({ path }) => path.length > 0)
  if (nested.length > 0) return nested
  const generated = new Set(union.types.map(mustBe))
  return single(faults.find(({ message }) => !generated.has(message))?.message ?? mustBe(union))
}

const fieldsOf = (ast: AST.AST): ReadonlyArray<string> =>
  AST.isTypeLiteral(ast) ? ast.propertySignatures.map(({ name }) => String(name)) : []

/** A field too much is told by the object around it, which knows those that there are. */
const partFaults = (part: ParseResult.ParseIssue, parent: AST.AST, outermost?: AST.AST): ReadonlyArray<Fault> => {
  if (part._tag !== "Pointer" || part.issue._tag !== "Unexpected") return faultsOf(part, outermost)
  return [{ path: [part.path].flat(), message: notKnown, known: fieldsOf(parent) }]
}

/** `outermost` is the outermost refinement around the value: its annotations have all rules. */
const faultsOf = (issue: ParseResult.ParseIssue, outermost?: AST.AST): ReadonlyArray<Fault> => {
  switch (issue._tag) {
    case "Type":
      return single(annotated(issue) ?? issue.message ?? mustBe(outermost ?? issue.ast))
    case "Missing":
      return single("is required")
    case "Unexpected":
      return single(notKnown)
    case "Forbidden":
      return single(notValid)
    case "Pointer":
      return faultsOf(issue.issue).map((fault) => ({ ...fault, path: [issue.path, fault.path].flat(2) }))
    case "Composite": {
      const parts = [issue.issues].flat() as ReadonlyArray<ParseResult.ParseIssue>
      const { ast } = issue
      if (!AST.isUnion(ast)) return parts.flatMap((part) => partFaults(part, ast, outermost))
      const message = annotated(issue)
      return message === undefined ? mergedFaults(ast, parts.flatMap((part) => faultsOf(part))) : single(message)
    }
    case "Refinement": {
      if (issue.kind === "From") return faultsOf(issue.issue, outermost ?? issue.ast)
      const message = annotated(issue)
      if (message !== undefined) return single(message)
      const inner = issue.issue
      return inner._tag === "Type"
        ? single(inner.message ?? refinementMessage(issue.ast, outermost ?? issue.ast))
        : faultsOf(inner)
    }
    case "Transformation":
      return issue.kind === "Transformation"
        ? single(annotated(issue) ?? mustBe(outermost ?? issue.ast))
        : faultsOf(issue.issue, outermost)
  }
}

/** The nearest name is looked for in the faults that are told, and not in all of them: there may be very many. */
const worded = ({ known, message, path }: Fault) =>
  known === undefined ? message : unknownField(String(path.at(-1)), known)

/** A path contains text that the caller sent, so it is truncated. */
const brief = (text: string) => text.length <= 300 ? text : `${text.slice(0, 299).toWellFormed()}…`
const mostIssues = 100

/** The first issue of each path, at most a hundred. */
export const issuesFrom = (faults: ReadonlyArray<Fault>): ReadonlyArray<Issue> => {
  const byPath = new Map<string, string>()
  for (const fault of faults) {
    const name = fault.path.map(String).join(".")
    if (!byPath.has(name)) byPath.set(name, worded(fault))
    if (byPath.size === mostIssues) break
  }
  return [...byPath].map(([path, message]) => ({ path: brief(path), message: brief(message) }))
}

export const issuesOf = ({ issue }: ParseResult.ParseError) => issuesFrom(faultsOf(issue))

/**
 * A decoding fallback that fails with the same faults, worded for callers. HttpApi shows the schema's own failure, so
 * the wording has to be in that failure already.
 */
export const inWords = (issue: ParseResult.ParseIssue): Either.Either<never, ParseResult.ParseIssue> => {
  const anything = AST.unknownKeyword
  const [first, ...more] = faultsOf(issue).slice(0, mostIssues).map((fault) => {
    const [head, ...tail] = fault.path
    const type = new ParseResult.Type(anything, undefined, worded(fault))
    return head === undefined ? type : new ParseResult.Pointer([head, ...tail], undefined, type)
  })
  return Either.left(first === undefined ? issue : new ParseResult.Composite(anything, undefined, [first, ...more]))
}
