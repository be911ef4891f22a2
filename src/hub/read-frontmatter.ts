import { Composer, type Document, isMap, isScalar, Lexer, Parser } from "yaml"
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

/**
 * Reads YAML 1.2 by its core schema, of one document. Aliases are rejected: a few lines of them stand for gigabytes.
 */
export const readFrontmatter = (text: string): unknown => {
  if (Buffer.byteLength(text) > documentLimits.frontmatterBytes) {
    throw unreadable(`must be at most ${documentLimits.frontmatterBytes / 1024} KB`)
  }
  const composer = new Composer({ schema: "core", uniqueKeys: false, prettyErrors: false, logLevel: "error" })
  const [document, ...more] = [...composer.compose(tokens(text), true, text.length)]
  if (document === undefined || more.length > 0) throw unreadable("must be one YAML document")
  const [error] = document.errors
  if (error !== undefined) throw unreadable(`is not valid YAML: ${error.message.slice(0, 200)}`)
  const repeated = repeatedKey(document)
  if (repeated !== undefined) throw unreadable(`has the key ${JSON.stringify(repeated.slice(0, 60))} twice`)
  try {
    return document.toJS({ maxAliasCount: 0 })
  } catch {
    throw unreadable("must not have aliases (*name)")
  }
}
