import { asOptions } from "#src/cli/publish-mapping.ts"
import { Mappings, SuggestedMappings } from "#src/imports/Mappings.ts"
import { type CallToolResult } from "@modelcontextprotocol/sdk/types.js"
import { Either, Option, Schema } from "effect"

/** The tool's arguments, by the options that give them. */
const options: Readonly<Record<string, string>> = {
  name: "--name",
  templateType: "--template",
  projectId: "--project",
  businessId: "--business",
  mode: "--mode",
  mappings: "--map",
  visible: "--hidden",
  "profile.contact.address.city": "--city",
  "profile.contact.address.state": "--state"
}

/** What the user typed: the file, and the ids and columns that a refusal may be about. */
export interface Typed {
  readonly file: string
  readonly business: Option.Option<string>
  readonly project: Option.Option<string>
  readonly mappings: Mappings
}

const Refusal = Schema.parseJson(Schema.Struct({
  error: Schema.Struct({
    code: Schema.String,
    message: Schema.String,
    details: Schema.optional(Schema.Struct({
      issues: Schema.optional(Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))),
      suggested_mappings: Schema.optional(SuggestedMappings),
      businessId: Schema.optional(Schema.String),
      importId: Schema.optional(Schema.String)
    }))
  })
}))
const refusalIn = Schema.decodeUnknownOption(Refusal)

/** An object of mappings within a sentence: what a message says to pass. */
const mappingsInText = /(?:\bmappings )?(\{(?:"(?:[^"\\]|\\.)*":"[a-z_]+",?)+\})/g
const decodeMappings = Schema.decodeUnknownEither(Schema.parseJson(Mappings))

/** A message of the platform in the command's own options: `mappings {"A":"price"}` becomes `--map 'A=price'`. */
export const inOptions = (message: string) =>
  message
    .replace(mappingsInText, (all, json: string) =>
      Either.match(decodeMappings(json), { onLeft: () => all, onRight: asOptions }))
    .replace(/\b(templateType|projectId|businessId)\b/g, (name) =>
      options[name] ?? name)

/** Words that a message begins with when it goes on with the sentence that its path began. */
const goesOn = /^(?:is|must|has|names|takes|would|can't|does|contains)\b/

const subjectOf = (path: string, { file, mappings }: Typed) => {
  const [head = "", ...rest] = path.split(".")
  const column = rest.join(".")
  if (head === "mappings" && column !== "") {
    const target = mappings[column]
    return target === undefined ? `--map of "${column}"` : asOptions({ [column]: target })
  }
  // What is said of the mappings as a whole is about the file.
  if (["file", "filename", "content", "mappings", ""].includes(head) && column === "") return file
  return options[path] ?? `${file}: ${path}`
}

const sentenceOf = (path: string, message: string, typed: Typed) =>
  `${subjectOf(path, typed)}${goesOn.test(message) ? " " : ": "}${inOptions(message)}`

/** The text of an issue as the platform joins it: `mode: is for an existing business`. */
const issueIn = /^([^\s:]+): (.*)$/s

/** A refusal that is one text, such as that of a dry run. */
export const refusalInOptions = (text: string, typed: Typed) => {
  const [, path, message] = issueIn.exec(text) ?? []
  return path === undefined || message === undefined ? inOptions(text) : sentenceOf(path, message, typed)
}

const idThatIsNotFound = ({ business, project }: Typed) =>
  Option.orElse(
    Option.map(business, (id) => `--business ${id}`),
    () => Option.map(project, (id) => `--project ${id}`)
  )

/** A refusal of `publish_business` in sentences that name options; none when the answer is something else. */
export const refusalOf = ({ content: [first] }: CallToolResult, typed: Typed): Option.Option<string> =>
  Option.map(refusalIn(first?.type === "text" ? first.text : ""), ({ error: { code, details, message } }) => {
    const { businessId, importId, issues = [], suggested_mappings = {} } = details ?? {}
    if (code.toLowerCase() === "not_found") {
      return Option.match(idThatIsNotFound(typed), {
        onNone: () => inOptions(message),
        onSome: (option) => `${option}: ${message}`
      })
    }
    const text = issues.length === 0
      ? inOptions(message)
      : issues.map(({ message, path }) => sentenceOf(path, message, typed)).join("\n")
    // What a publication has made before it failed.
    const made = [businessId && `Business   ${businessId}`, importId && `Import     ${importId}`].filter(Boolean)
    return [withSuggested(text, suggested_mappings), ...made].join("\n")
  })

/** The text, and the options that it does not name yet. */
export const withSuggested = (text: string, suggested: Mappings) => {
  const missing = asOptions(suggested)
  return missing === "" || text.includes(missing) ? text : `${text}\nIf that is right, add: ${missing}`
}
