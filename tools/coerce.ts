import { Predicate, type Schema, SchemaAST as AST } from "effect"

const membersOf = (ast: AST.AST): ReadonlyArray<AST.AST> =>
  AST.isUnion(ast) ? ast.types.flatMap(membersOf) : AST.isSuspend(ast) ? membersOf(ast.f()) : [ast]

/** Numbers as in a query: other forms that JavaScript reads (`1e1`, `0x10`, ` 5`) are mistakes. */
const isNumber = (text: string) => /^-?\d+(\.\d+)?$/.test(text)

const acceptsText = (text: string) => (ast: AST.AST) =>
  AST.isLiteral(ast) ? ast.literal === text : !(
    AST.isNumberKeyword(ast) || AST.isBooleanKeyword(ast) || AST.isTypeLiteral(ast) || AST.isTupleType(ast)
  )

const coerceText = (members: ReadonlyArray<AST.AST>, text: string) => {
  if (members.some(acceptsText(text))) return text
  const acceptsNumber = (ast: AST.AST) =>
    AST.isNumberKeyword(ast) || AST.isLiteral(ast) && typeof ast.literal === "number"
  if (isNumber(text) && members.some(acceptsNumber)) return Number(text)
  return (text === "true" || text === "false") && members.some(AST.isBooleanKeyword) ? text === "true" : text
}

const coerce = (ast: AST.AST, value: unknown): unknown => {
  const members = membersOf(ast)
  if (typeof value === "string") return coerceText(members, value)
  if (Array.isArray(value)) {
    const item = members.find(AST.isTupleType)?.rest[0]?.type
    return item === undefined ? value : value.map((one) => coerce(item, one))
  }
  const objects = members.filter(AST.isTypeLiteral)
  const [object] = objects
  if (!Predicate.isRecord(value) || object === undefined || objects.length > 1) return value
  const typeOf = (name: string) =>
    object.propertySignatures.find((property) => property.name === name)?.type ?? object.indexSignatures[0]?.type
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      const type = typeOf(name)
      return [name, type === undefined ? one : coerce(type, one)]
    })
  )
}

/**
 * Converts `"5"` to 5 and `"true"` to true, as models often send them, where the schema has a number or a boolean and
 * would reject the text. Values that are valid already, or in neither form, stay unchanged.
 */
export const coercedBy = (schema: Schema.Schema.Any) => {
  const ast = AST.encodedAST(schema.ast)
  return (args: unknown) => coerce(ast, args)
}
