import { Composer, type Document, isMap, isScalar, Lexer, Parser, visit, type YAMLParseError } from "yaml"
import { documentLimits } from "./CapabilityDoc.ts"
import { UnreadablePart } from "./document-fields.ts"

/** Far above what a skill needs. Beyond some hundreds the library's recursion would end the whole process. */
const mostNesting = 64

/** Three times what a thousand tools with their descriptions take; each costs the library time. */
const mostLexemes = 30_000

const unreadable = (reason: string) => new UnreadablePart("frontmatter", reason)

function* tokens(text: string) {
  const parser = new Parser()
  let lexemes = 0
  for (const lexeme of new Lexer().lex(text)) {
    if (++lexemes > mostLexemes) throw unreadable("has too many entries: only name, description and tools are read")
    yield* parser.next(lexeme)
    if (parser.stack.length > mostNesting) throw unreadable("is nested too deep")
  }
  yield* parser.end()
}

/** The library compares each key with all others, which takes seconds for ten thousand of them. */
const repeatedKey = ({ contents }: Document.Parsed) => {
  if (!isMap(contents)) return undefined
  const seen = new Set<unknown>()
  for (const { key } of contents.items) {
    const name: unknown = isScalar(key) ? key.value : key
    if (seen.has(name)) return String(name)
    seen.add(name)
  }
  return undefined
}

/** Line and column of an error, counted from the line below the first `---`, and the cure. */
const whereAndWhy = (text: string, { message, pos: [at] }: YAMLParseError) => {
  const lines = text.slice(0, at).split("\n")
  const line = text.split("\n")[lines.length - 1]?.trimEnd() ?? ""
  // A colon, a bracket or a mark such as @ in a text that is not quoted is what people run into.
  const [, key, value] = /^\s*([\w-]+):\s+([^"'].*)$/.exec(line) ?? []
  const cure = key === undefined || value === undefined
    ? ""
    : `. Put the text in quotation marks: ${key}: ${JSON.stringify(value.slice(0, 100))}`
  return `in its line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}: ${message.slice(0, 200)}${cure}`
}

/** What ends a line in YAML 1.1 alone: its readers would find other keys than we do. */
const otherLineEnds = /[\u0085\u2028\u2029]/

/** A merge key of YAML 1.1 (`<<`), whose readers put the keys of its value in its place. */
const hasMergeKey = (document: Document.Parsed) => {
  let found = false
  visit(document, {
    Pair: (_, { key }) => {
      found ||= isScalar(key) && String(key.value).normalize("NFKC").trim() === "<<"
      return found ? visit.BREAK : undefined
    }
  })
  return found
}

/**
 * Reads YAML 1.2 by its core schema, of one document. Aliases are rejected: a few lines of them stand for gigabytes.
 */
export const readFrontmatter = (text: string): unknown => {
  if (Buffer.byteLength(text) > documentLimits.frontmatterBytes) {
    throw unreadable(`must be at most ${documentLimits.frontmatterBytes / 1024} KB`)
  }
  if (otherLineEnds.test(text)) throw unreadable("must not have the line ends U+0085, U+2028 or U+2029")
  const composer = new Composer({ schema: "core", uniqueKeys: false, prettyErrors: false, logLevel: "error" })
  const [document, ...more] = [...composer.compose(tokens(text), true, text.length)]
  if (document === undefined || more.length > 0) throw unreadable("must be one YAML document")
  const [error] = document.errors
  if (error !== undefined) throw unreadable(`is not valid YAML ${whereAndWhy(text, error)}`)
  if (hasMergeKey(document)) throw unreadable("must not have merge keys (<<)")
  const repeated = repeatedKey(document)
  if (repeated !== undefined) throw unreadable(`has the key ${JSON.stringify(repeated.slice(0, 60))} twice`)
  try {
    return document.toJS({ maxAliasCount: 0 })
  } catch {
    throw unreadable("must not have aliases (*name)")
  }
}
