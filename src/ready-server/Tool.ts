import { issuesOf } from "#src/format/issues.ts"
import type { CallToolResult, Tool as ToolListing } from "@modelcontextprotocol/sdk/types.js"
import { Either, JSONSchema, type ParseResult, Schema } from "effect"

export interface Tool {
  readonly listing: ToolListing
  readonly call: (args: unknown) => CallToolResult
}

/** `Schema.Int` carries a name, which would become a `$ref`. */
export const Integer = Schema.Number.pipe(Schema.int())

/** Shortens a caller's text, to quote it in a message. */
export const brief = (text: string) => text.length <= 100 ? text : `${text.slice(0, 99).toWellFormed()}…`

const errorResult = (message: string): CallToolResult => ({ isError: true, content: [{ type: "text", text: message }] })

/** The first three errors, each with its argument; never the value that was sent. */
const describe = (error: ParseResult.ParseError): string =>
  issuesOf(error).slice(0, 3).map(({ message, path }) =>
    path === "" ? `they ${message}` : `"${brief(path)}" ${message}`
  ).join("; ").slice(0, 400)

/** No `$schema`: some clients' validators refuse to load a dialect by name. Without fields any input is accepted. */
const objectSchema = (schema: Schema.Schema.AnyNoContext): ToolListing["inputSchema"] => {
  const { $defs, properties, required, type } = JSONSchema.make(schema) as Partial<JSONSchema.JsonSchema7Object> & {
    readonly $defs?: Record<string, object>
  }
  return type !== "object" || properties === undefined
    ? { type: "object", properties: {} }
    : {
      type,
      properties,
      ...(required === undefined || required.length === 0 ? {} : { required }),
      additionalProperties: false,
      ...($defs === undefined ? {} : { $defs })
    }
}

/**
 * A read-only tool: arguments are checked against its schema, and an error (`Left`) is a sentence that says how to
 * correct the call. Results are structured content and, for clients without it, the same JSON in a text block (MCP
 * 2025-11-25, Tools § Structured Content).
 */
export const readTool = <I, IE, O extends Record<string, unknown>>(options: {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: Schema.Schema<I, IE>
  readonly output: Schema.Schema<O>
  readonly run: (input: I) => Either.Either<O, string>
}): Tool => {
  const decode = Schema.decodeUnknownEither(options.input, { onExcessProperty: "error", errors: "all" })
  return {
    listing: {
      name: options.name,
      title: options.title,
      description: options.description,
      inputSchema: objectSchema(options.input),
      outputSchema: objectSchema(options.output),
      annotations: {
        title: options.title,
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false
      }
    },
    call: (args) =>
      Either.match(decode(args ?? {}), {
        onLeft: (error) => errorResult(`The arguments are not right: ${describe(error)}.`),
        onRight: (input) =>
          Either.match(options.run(input), {
            onLeft: errorResult,
            onRight: (output) => ({
              content: [{ type: "text", text: JSON.stringify(output) }],
              structuredContent: output
            })
          })
      })
  }
}
