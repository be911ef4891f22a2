import { Either, Option, ParseResult, Predicate, SchemaAST as AST } from "effect"

/** Where a value broke its schema: `path` in dotted form, empty for the whole. `message` goes on from the name. */
export interface Issue {
  readonly path: string
  readonly message: string
}

interface Fault {
  readonly path: ReadonlyArray<PropertyKey>
  readonly message: string
}

const notValid = "is not valid"

const jsonSchemaOf = (ast: AST.AST) =>
  Option.getOrElse(AST.getJSONSchemaAnnotation(ast), () => ({})) as Readonly<Record<string, unknown>>

const unrefined = (ast: AST.AST): AST.AST => AST.isRefinement(ast) ? unrefined(ast.from) : ast

/** All that a chain of refinements says in JSON Schema. */
const rules = (ast: AST.AST): Readonly<Record<string, unknown>> =>
  AST.isRefinement(ast) ? { ...rules(ast.from), ...jsonSchemaOf(ast) } : {}

const range = ({ exclusiveMinimum, maximum, minimum, type }: Readonly<Record<string, unknown>>) => {
  const least = type === "integer" && typeof exclusiveMinimum === "number" ? exclusiveMinimum + 1 : minimum
  if (least !== undefined && maximum !== undefined) return ` between ${least} and ${maximum}`
  if (least !== undefined) return ` of at least ${least}`
  return maximum === undefined ? "" : ` of at most ${maximum}`
}

/** What each type is called, to go after "must be"; undefined for what no caller is to know of. */
const called = (ast: AST.AST): string | undefined => {
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
      const base = called(unrefined(ast))
      const said = rules(ast)
      return base === "a number" ? `${said["type"] === "integer" ? "an integer" : base}${range(said)}` : base
    }
    case "Transformation":
      // A number in a query is text on the way to a number; a struct's defaults are no matter of the caller's.
      return called(AST.isTypeLiteral(ast.from) ? ast.from : ast.to)
    case "Suspend":
      return called(ast.f())
    default:
      return undefined
  }
}

const anyOf = (types: ReadonlyArray<AST.AST>) => {
  const isChoice = (ast: AST.AST) => AST.isLiteral(ast) && ast.literal !== null
  const choices = types.filter(isChoice).flatMap((ast) => called(ast) ?? [])
  const others = types.filter((ast) => !isChoice(ast)).flatMap((ast) => called(ast) ?? [])
  const listed = choices.length > 1 ? [`one of ${choices.join(", ")}`] : choices
  return [...listed, ...others].join(", or ") || undefined
}

const mustBe = (ast: AST.AST) => {
  const name = called(ast)
  return name === undefined ? notValid : `must be ${name}`
}

/** What each refinement asks for, by what it says in JSON Schema; those with words of their own are not asked. */
const asks: ReadonlyArray<readonly [rule: string, message: (value: unknown) => string]> = [
  ["minLength", (least) => least === 1 ? "must not be empty" : `must be at least ${least} characters`],
  ["maxLength", (most) => `must be at most ${most} characters`],
  ["minItems", (least) => `must have at least ${least} ${least === 1 ? "item" : "items"}`],
  ["maxItems", (most) => `must have at most ${most} ${most === 1 ? "item" : "items"}`],
  ["uniqueItems", () => "must not repeat an item"],
  ["pattern", () => "is not in the right form"]
]

const unmet = (ast: AST.Refinement, whole: AST.AST) => {
  const own = jsonSchemaOf(ast)
  const asked = asks.find(([rule]) => own[rule] !== undefined)
  if (asked !== undefined) return asked[1](own[asked[0]])
  return called(unrefined(ast)) === "a number" ? mustBe(whole) : notValid
}

/** The words that a schema has of its own. */
const annotated = (issue: ParseResult.ParseIssue): string | undefined => {
  if (!("ast" in issue)) return undefined
  const said = Option.map(AST.getMessageAnnotation(issue.ast as AST.AST), (message) => message(issue))
  return Option.getOrUndefined(Option.filter(said, Predicate.isString))
}

const single = (message: string): ReadonlyArray<Fault> => [{ path: [], message }]

/** What the members of a union say of one value, in one sentence: what it may be, unless one has words of its own. */
const together = (union: AST.Union, faults: ReadonlyArray<Fault>): ReadonlyArray<Fault> => {
  const deeper = faults.filter(({ path }) => path.length > 0)
  if (deeper.length > 0) return deeper
  const usual = new Set(union.types.map(mustBe))
  return single(faults.find(({ message }) => !usual.has(message))?.message ?? mustBe(union))
}

/** `whole` is the outermost of the refinements around the value, which says all that it must be. */
const faultsOf = (issue: ParseResult.ParseIssue, whole?: AST.AST): ReadonlyArray<Fault> => {
  switch (issue._tag) {
    case "Type":
      return single(annotated(issue) ?? issue.message ?? mustBe(whole ?? issue.ast))
    case "Missing":
      return single("is required")
    case "Unexpected":
      return single("is not a known field")
    case "Forbidden":
      return single(notValid)
    case "Pointer":
      return faultsOf(issue.issue).map(({ message, path }) => ({ path: [issue.path, path].flat(2), message }))
    case "Composite": {
      const parts = [issue.issues].flat() as ReadonlyArray<ParseResult.ParseIssue>
      if (!AST.isUnion(issue.ast)) return parts.flatMap((part) => faultsOf(part, whole))
      const said = annotated(issue)
      return said === undefined ? together(issue.ast, parts.flatMap((part) => faultsOf(part))) : single(said)
    }
    case "Refinement": {
      if (issue.kind === "From") return faultsOf(issue.issue, whole ?? issue.ast)
      const said = annotated(issue)
      if (said !== undefined) return single(said)
      const inner = issue.issue
      return inner._tag === "Type"
        ? single(inner.message ?? unmet(issue.ast, whole ?? issue.ast))
        : faultsOf(inner)
    }
    case "Transformation":
      return issue.kind === "Transformation"
        ? single(annotated(issue) ?? mustBe(whole ?? issue.ast))
        : faultsOf(issue.issue, whole)
  }
}

/** What was sent is in a path; not all of it is shown when it is long. */
const brief = (text: string) => text.length <= 300 ? text : `${text.slice(0, 299).toWellFormed()}…`
const mostIssues = 100

/** One issue a path, the first that was found, and the first hundred. */
export const issuesFrom = (faults: ReadonlyArray<Fault>): ReadonlyArray<Issue> => {
  const byPath = new Map<string, string>()
  for (const { message, path } of faults) {
    const name = path.map(String).join(".")
    if (!byPath.has(name)) byPath.set(name, message)
    if (byPath.size === mostIssues) break
  }
  return [...byPath].map(([path, message]) => ({ path: brief(path), message: brief(message) }))
}

export const issuesOf = ({ issue }: ParseResult.ParseError) => issuesFrom(faultsOf(issue))

/**
 * A decoding fallback that fails with the same faults in words for callers. HttpApi shows what a schema says of itself,
 * so the words have to be in the schema's failure already.
 */
export const inWords = (issue: ParseResult.ParseIssue): Either.Either<never, ParseResult.ParseIssue> => {
  const anything = AST.unknownKeyword
  const [first, ...more] = faultsOf(issue).slice(0, mostIssues).map(({ message, path: [head, ...tail] }) => {
    const fault = new ParseResult.Type(anything, undefined, message)
    return head === undefined ? fault : new ParseResult.Pointer([head, ...tail], undefined, fault)
  })
  return Either.left(first === undefined ? issue : new ParseResult.Composite(anything, undefined, [first, ...more]))
}
