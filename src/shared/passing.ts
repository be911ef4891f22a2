import { Effect, Either, Option, type ParseResult, Predicate, Schema, SchemaAST as AST } from "effect"

type Check = (value: unknown) => boolean

const isPrimitive = (ast: AST.AST): boolean =>
  AST.isLiteral(ast) || AST.isStringKeyword(ast) || AST.isNumberKeyword(ast) || AST.isBooleanKeyword(ast) ||
  AST.isUndefinedKeyword(ast) || (AST.isRefinement(ast) && isPrimitive(ast.from))

const all = (asts: ReadonlyArray<AST.AST>): ReadonlyArray<Check> | undefined => {
  const checks = asts.map(checkOf)
  return checks.every(Predicate.isNotUndefined) ? checks : undefined
}

const struct = ({ indexSignatures, propertySignatures }: AST.TypeLiteral): Check | undefined => {
  const checks = all(propertySignatures.map(({ type }) => type))
  if (checks === undefined || indexSignatures.length > 0 || propertySignatures.length === 0) return undefined
  const fields = propertySignatures.map(({ isOptional, name }, at) => ({ isOptional, name, check: checks[at]! }))
  const names = new Set<unknown>(fields.map(({ name }) => name))
  return (value) =>
    Predicate.isRecord(value) &&
    fields.every(({ check, isOptional, name }) =>
      Object.hasOwn(value, name) ? check(value[name as string]) : isOptional
    ) &&
    // A decoder leaves out what it does not know.
    Object.keys(value).every((name) => names.has(name))
}

const tuple = ({ elements, rest }: AST.TupleType): Check | undefined => {
  const checks = all([...elements, ...rest].map(({ type }) => type))
  if (checks === undefined || rest.length > 1 || elements.some(({ isOptional }) => isOptional)) return undefined
  const fixed = elements.length
  return (value) =>
    Array.isArray(value) && (rest.length === 0 ? value.length === fixed : value.length >= fixed) &&
    value.every((one, at) => checks[Math.min(at, fixed)]!(one))
}

/** Whether a value is what the schema would decode it to; undefined where it may be changed, or that is not told so easily. */
const checkOf = (ast: AST.AST): Check | undefined => {
  switch (ast._tag) {
    case "StringKeyword":
      return Predicate.isString
    case "NumberKeyword":
      return Predicate.isNumber
    case "BooleanKeyword":
      return Predicate.isBoolean
    case "UndefinedKeyword":
      return Predicate.isUndefined
    case "UnknownKeyword":
      return () => true
    case "Literal":
      return (value) => value === ast.literal
    case "Refinement": {
      const from = checkOf(ast.from)
      return from && ((value) => from(value) && Option.isNone(ast.filter(value, {}, ast)))
    }
    case "TypeLiteral":
      return struct(ast)
    case "TupleType":
      return tuple(ast)
    case "Union": {
      // Of two objects the first that fits is taken, which may know fewer fields.
      if (ast.types.filter((type) => !isPrimitive(type)).length > 1) return undefined
      const checks = all(ast.types)
      return checks && ((value) => checks.some((check) => check(value)))
    }
    case "Declaration": {
      if (ast.typeParameters.length > 0) return undefined
      const parse = ast.decodeUnknown()
      return (value) => {
        const parsed = parse(value, {}, ast)
        return Either.isEither(parsed) && Either.isRight(parsed) && parsed.right === value
      }
    }
    default:
      return undefined
  }
}

/**
 * Decodes what comes from the database: a value that the schema would decode to an equal one is passed on as it is. To
 * check it takes a tenth of the time that a decoder needs, which makes each object anew. Anything else the decoder reads,
 * whose error it is then.
 */
export const decodePassing = <A, I>(schema: Schema.Schema<A, I>) => {
  const check = checkOf(schema.ast)
  const decode = Schema.decodeUnknown(schema)
  if (check === undefined) return decode
  return (value: unknown): Effect.Effect<A, ParseResult.ParseError> =>
    check(value) ? Effect.succeed(value as A) : decode(value)
}
