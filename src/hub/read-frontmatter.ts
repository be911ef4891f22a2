import { Composer, type Document, isMap, isScalar, Lexer, Parser, visit } from "yaml"
import { documentLimits } from "./CapabilityDoc.ts"
import { UnreadablePart } from "./document-fields.ts"

/** Far above what a skill needs. Beyond some hundreds the library's recursion would end the whole process. */
const mostNesting = 64

const unreadable = (reason: string) => new UnreadablePart("frontmatter", reason)

function* tokens(text: string) {
  const parser = new Parser()
  for (const lexeme of new Lexer().lex(text)) {
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
  if (error !== undefined) throw unreadable(`is not valid YAML: ${error.message.slice(0, 200)}`)
  if (hasMergeKey(document)) throw unreadable("must not have merge keys (<<)")
  const repeated = repeatedKey(document)
  if (repeated !== undefined) throw unreadable(`has the key ${JSON.stringify(repeated.slice(0, 60))} twice`)
  try {
    return document.toJS({ maxAliasCount: 0 })
  } catch {
    throw unreadable("must not have aliases (*name)")
  }
}
