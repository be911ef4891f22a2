import ts from "typescript"

/** A statement that writes a table: which one, and where it stands. */
export interface SqlWrite {
  readonly table: string
  readonly file: string
  readonly line: number
}

/** TypeScript by the path of its file. */
export type Sources = Readonly<Record<string, string>>

const writing =
  /\b(?:INSERT\s+INTO|DELETE\s+FROM|MERGE\s+INTO|TRUNCATE(?:\s+TABLE)?)\s+(?:ONLY\s+)?("?\w+"?|⟦\d+⟧)|\bUPDATE\s+(?:ONLY\s+)?("?\w+"?|⟦\d+⟧)(?:\s+(?:AS\s+)?\w+)?\s+SET\b/gi

/** A template's or a string's text; what is put into it stands as `⟦n⟧`. */
const textOf = (node: ts.Node): string | undefined => {
  if (ts.isStringLiteralLike(node)) return node.text
  if (!ts.isTemplateExpression(node)) return undefined
  return node.templateSpans.reduce((text, { literal }, at) => `${text}⟦${at}⟧${literal.text}`, node.head.text)
}

const tablesNamedIn = (text: string) => [...text.matchAll(writing)].map(([, one, other]) => one ?? other ?? "")

const walk = (node: ts.Node, visit: (node: ts.Node) => void) => {
  visit(node)
  ts.forEachChild(node, (child) => walk(child, visit))
}

const ancestor = <A extends ts.Node>(node: ts.Node, is: (node: ts.Node) => node is A): A | undefined => {
  for (let at: ts.Node | undefined = node.parent; at !== undefined; at = at.parent) if (is(at)) return at
  return undefined
}

/** The texts of a type that is one literal, or several, by itself or by a name that the same file gives it. */
const literalsOf = (type: ts.TypeNode | undefined, file: ts.SourceFile): ReadonlyArray<string> | undefined => {
  if (type === undefined) return undefined
  if (ts.isLiteralTypeNode(type)) return ts.isStringLiteral(type.literal) ? [type.literal.text] : undefined
  if (ts.isUnionTypeNode(type)) {
    const each = type.types.map((one) => literalsOf(one, file))
    return each.some((one) => one === undefined) ? undefined : each.flatMap((one) => one ?? [])
  }
  const named = file.statements.find((statement): statement is ts.TypeAliasDeclaration =>
    ts.isTypeAliasDeclaration(statement) && statement.name.text === type.getText(file)
  )
  return named === undefined ? undefined : literalsOf(named.type, file)
}

/** The parameter that a name is, of the functions around it. */
const parameterOf = (name: ts.Identifier) => {
  for (let at = ancestor(name, ts.isArrowFunction); at !== undefined; at = ancestor(at, ts.isArrowFunction)) {
    const index = at.parameters.findIndex((parameter) => parameter.name.getText() === name.text)
    const parameter = at.parameters[index]
    if (parameter !== undefined) return { parameter, index, owner: at.parent }
  }
  return undefined
}

interface Found extends SqlWrite {
  readonly node: ts.Node
}

/**
 * Every statement of the sources that writes a table. Where a variable names the table, its type must be the names
 * themselves; or it is the parameter of a function, and then whoever calls the function with a name writes that table.
 */
export const sqlWritesIn = (sources: Sources): ReadonlyArray<SqlWrite> => {
  const files = Object.entries(sources).map(([path, text]) =>
    ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true)
  )
  const at = (node: ts.Node) => {
    const file = node.getSourceFile()
    return { file: file.fileName, line: file.getLineAndCharacterOfPosition(node.getStart()).line + 1, node }
  }
  const unknown = (node: ts.Node): never => {
    const { file, line } = at(node)
    throw new Error(`${file}:${line}: which table this writes can't be told: give its variable a type of the names`)
  }

  const calls = (name: string, index: number): ReadonlyArray<Found> => {
    const found: Array<Found> = []
    for (const file of files) {
      walk(file, (node) => {
        if (!ts.isCallExpression(node) || node.expression.getText() !== name) return
        const given = node.arguments[index]
        found.push({
          ...at(node),
          table: given !== undefined && ts.isStringLiteral(given) ? given.text : unknown(node)
        })
      })
    }
    return found
  }

  const byVariable = (template: ts.TemplateExpression, index: number): ReadonlyArray<Found> => {
    const put = template.templateSpans[index]?.expression
    const name = put !== undefined && ts.isCallExpression(put) ? put.arguments[0] : undefined
    const found = name !== undefined && ts.isIdentifier(name) ? parameterOf(name) : undefined
    if (found === undefined) return unknown(template)
    const names = literalsOf(found.parameter.type, template.getSourceFile())
    if (names !== undefined) return names.map((table) => ({ ...at(template), table }))
    return ts.isVariableDeclaration(found.owner) ? calls(found.owner.name.getText(), found.index) : unknown(template)
  }

  const found: Array<Found> = []
  for (const file of files) {
    walk(file, (node) => {
      const text = textOf(node)
      for (const table of text === undefined ? [] : tablesNamedIn(text)) {
        const variable = /^⟦(\d+)⟧$/.exec(table)?.[1]
        if (variable === undefined) found.push({ ...at(node), table: table.replaceAll("\"", "").toLowerCase() })
        else found.push(...byVariable(node as ts.TemplateExpression, Number(variable)))
      }
      // The helpers of @effect/sql make a part of a statement: the whole must be one that was seen.
      if (ts.isCallExpression(node) && /^sql\.(insert|update|updateValues)$/.test(node.expression.getText())) {
        const whole = ancestor(node, ts.isTemplateExpression)
        if (whole === undefined || tablesNamedIn(textOf(whole) ?? "").length === 0) unknown(node)
      }
    })
  }
  return found.map(({ file, line, table }) => ({ file, line, table }))
}
