import { lineOf } from "#src/shared/outside-text.ts"
import { Either } from "effect"
import { isUtf8 } from "node:buffer"
import {
  type DocumentFormat,
  documentLimits,
  DocumentNotValid,
  type ParsedDocument,
  type SentDocument,
  tooLarge
} from "./CapabilityDoc.ts"
import { type DocumentFields, fieldsOf, UnreadablePart } from "./document-fields.ts"
import { readFrontmatter } from "./read-frontmatter.ts"
import { readMarkdown } from "./read-markdown.ts"

const formats: Readonly<Record<string, DocumentFormat>> = {
  "text/markdown": "skill_md",
  "text/x-markdown": "skill_md",
  "text/plain": "skill_md",
  "application/json": "json"
}
const extensions: Readonly<Record<string, DocumentFormat>> = {
  md: "skill_md",
  markdown: "skill_md",
  txt: "skill_md",
  json: "json"
}

const lookUp = <A>(table: Readonly<Record<string, A>>, key: string) =>
  Object.hasOwn(table, key) ? table[key] : undefined

/**
 * Contract: Hub endpoints, the media types of a document. Programs that know none for `.md` send
 * `application/octet-stream`, and then the name's end decides.
 */
const formatOf = ({ filename, type }: Pick<SentDocument, "filename" | "type">): DocumentFormat | undefined => {
  const name = (type.split(";", 1)[0] ?? "").trim().toLowerCase()
  const extension = /\.([a-z]+)$/i.exec(filename)?.[1]?.toLowerCase() ?? ""
  return name === "application/octet-stream" || name === "" ? lookUp(extensions, extension) : lookUp(formats, name)
}

/** The text of a file, its lines ended by `\n`. */
const textOf = (bytes: Uint8Array) => {
  if (bytes.length === 0) throw new UnreadablePart("file", "is required, and must not be empty")
  const text = isUtf8(bytes) ? new TextDecoder().decode(bytes).replace(/\r\n?/g, "\n") : undefined
  if (text === undefined || text.includes("\0")) throw new UnreadablePart("file", "must be text in UTF-8")
  if (text.trim() === "") throw new UnreadablePart("file", "is required, and must not be blank")
  return text
}

/** Frontmatter is between a first line `---` and the next. Some readers skip blank lines before it, so they are skipped. */
const split = (text: string) => {
  if (/^\s*---[ \t]*[^\s-]/.test(text)) throw new UnreadablePart("frontmatter", "must begin with a line ---, in YAML")
  const [opening = ""] = /^\s*---[ \t]*\n/.exec(text) ?? []
  if (opening === "") return { frontmatter: undefined, body: text }
  const closing = /^(?:---|\.\.\.)[ \t]*$/m.exec(text.slice(opening.length))
  if (closing === null) throw new UnreadablePart("frontmatter", "must end with a line ---")
  const end = opening.length + closing.index
  return { frontmatter: text.slice(opening.length, end), body: text.slice(end + closing[0].length) }
}

const unknownType = "must be text/markdown, text/x-markdown or text/plain (SKILL.md), or application/json; " +
  "as application/octet-stream its name must end in .md, .markdown, .txt or .json"

const nothing: DocumentFields = { name: undefined, description: undefined, tools: undefined }

const readSkill = (text: string): DocumentFields => {
  const { body, frontmatter } = split(text)
  const yaml = frontmatter === undefined ? null : readFrontmatter(frontmatter)
  const said = yaml === null ? nothing : fieldsOf(yaml, "the frontmatter")
  const shown = readMarkdown(body)
  return {
    name: said.name ?? shown.name,
    description: said.description ?? shown.description,
    tools: said.tools ?? shown.tools
  }
}

const readJson = (text: string): DocumentFields => {
  let root: unknown
  try {
    root = JSON.parse(text)
  } catch (error) {
    throw new UnreadablePart("file", `is not valid JSON: ${lineOf(String((error as Error).message), 200)}`)
  }
  return fieldsOf(root, "the document")
}

/** Reads a document. `listingName` stands in for a name that it does not have. */
export const parseDocument = (sent: SentDocument, listingName: string): Either.Either<
  { readonly format: DocumentFormat; readonly parsed: ParsedDocument },
  DocumentNotValid
> => {
  if (sent.bytes.length > documentLimits.bytes) return Either.left(tooLarge())
  const format = formatOf(sent)
  if (format === undefined) return Either.left(DocumentNotValid.of(unknownType))
  try {
    const text = textOf(sent.bytes)
    const { description = "", name, tools = [] } = format === "json" ? readJson(text) : readSkill(text)
    const parsed = { name: name ?? lineOf(listingName, documentLimits.name), description, tools }
    return Either.right({ format, parsed })
  } catch (error) {
    if (error instanceof UnreadablePart) return Either.left(new DocumentNotValid({ issues: [error.issue] }))
    throw error
  }
}
