import {
  type McpPrompt,
  type McpResource,
  type McpResourceTemplate,
  type McpToolDefinition
} from "#src/servers/McpFeatures.ts"
import { lineOf } from "#src/shared/outside-text.ts"
import { longestTemplate, uriTemplate } from "#src/shared/uri-template.ts"
import { ToolSchema } from "@modelcontextprotocol/sdk/types.js"
import { type Fields, isFields } from "./rpc.ts"

/** Deeper schemas and longer ones are nobody's tool; whoever reads them pays for each level. */
const deepest = 40
const longestSchema = 32 * 1024

const clean = (value: unknown, depth: number): unknown => {
  if (depth > deepest) throw new RangeError("it is nested too deeply")
  // PostgreSQL stores neither NUL nor lone surrogates.
  if (typeof value === "string") return value.toWellFormed().replaceAll("\u0000", "\ufffd")
  if (Array.isArray(value)) return value.map((one) => clean(one, depth + 1))
  if (!isFields(value)) return value
  return Object.fromEntries(
    Object.entries(value).map((
      [key, one]
    ) => [key.toWellFormed().replaceAll("\u0000", "\ufffd"), clean(one, depth + 1)])
  )
}

/** A machine's JSON object as it can be stored; undefined when it is none, too deep or too long. */
const storableFields = (value: unknown): Fields | undefined => {
  if (!isFields(value)) return undefined
  try {
    const cleaned = clean(value, 0)
    return isFields(cleaned) && JSON.stringify(cleaned).length <= longestSchema ? cleaned : undefined
  } catch {
    return undefined
  }
}

/** Only the hints of the protocol: nobody else's annotations are repeated. */
const hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]

const hintsOf = (value: unknown) =>
  Object.fromEntries(
    Object.entries(isFields(value) ? value : {}).filter(([name, hint]) =>
      hints.includes(name) && typeof hint === "boolean"
    )
  )

/** A model reads a definition whole: its description may be longer than what a list shows. */
const longestText = 2_000
const longestTitle = 200
const longestUri = 2_000
const mostArguments = 50

/** Cut before it is cleaned: a description may be megabytes long. */
const textOf = (value: unknown, longest: number) =>
  typeof value === "string" ? lineOf(value.slice(0, longest * 10), longest) : ""

/** A field that is left out when it says nothing. */
const optional = <Name extends string>(name: Name, value: unknown, longest: number) => {
  const text = textOf(value, longest)
  return (text === "" ? {} : { [name]: text }) as { readonly [_ in Name]?: string }
}

/** Left out when it is none, too deep or too long. */
const metaOf = ({ _meta }: Fields) => {
  const kept = storableFields(_meta)
  return kept === undefined ? {} : { _meta: kept }
}

/** A tool as a client could call it; undefined when its input schema is not one that clients take. */
export const definitionOf = (name: string, tool: Fields): McpToolDefinition | undefined => {
  const inputSchema = storableFields(tool["inputSchema"])
  if (inputSchema === undefined || !ToolSchema.safeParse({ name, inputSchema }).success) return undefined
  const outputSchema = storableFields(tool["outputSchema"])
  return {
    name,
    ...optional("title", tool["title"], longestTitle),
    description: textOf(tool["description"] ?? tool["title"], longestText),
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    annotations: hintsOf(tool["annotations"]),
    ...metaOf(tool)
  }
}

/** Names and URIs are kept only as they are called: a mended one is another's. */
const exact = (value: unknown, longest: number) =>
  typeof value === "string" && value !== "" && lineOf(value, longest) === value ? value : undefined

export const promptOf = (prompt: Fields): McpPrompt | undefined => {
  const name = exact(prompt["name"], 128)
  const listed: ReadonlyArray<unknown> = Array.isArray(prompt["arguments"]) ? prompt["arguments"] : []
  return name === undefined ? undefined : {
    name,
    ...optional("title", prompt["title"], longestTitle),
    description: textOf(prompt["description"], longestText),
    arguments: listed.slice(0, mostArguments).flatMap((argument) => {
      const fields = isFields(argument) ? argument : {}
      const named = exact(fields["name"], 128)
      return named === undefined ? [] : [{
        name: named,
        ...optional("description", fields["description"], longestText),
        ...(fields["required"] === true ? { required: true } : {})
      }]
    })
  }
}

const describedOf = (resource: Fields) => ({
  name: textOf(resource["name"], longestTitle),
  ...optional("title", resource["title"], longestTitle),
  description: textOf(resource["description"], longestText),
  ...optional("mimeType", resource["mimeType"], 100)
})

export const resourceOf = (resource: Fields): McpResource | undefined => {
  const uri = exact(resource["uri"], longestUri)
  return uri === undefined ? undefined : { uri, ...describedOf(resource), ...metaOf(resource) }
}

/** Undefined as well for a template by which no URI could be found. */
export const templateOf = (template: Fields): McpResourceTemplate | undefined => {
  const text = exact(template["uriTemplate"], longestTemplate)
  return text === undefined || uriTemplate(text) === undefined
    ? undefined
    : { uriTemplate: text, ...describedOf(template) }
}
