import type { CallToolResult, Tool as ToolListing } from "@modelcontextprotocol/sdk/types.js"
import { Either, JSONSchema, ParseResult, Schema } from "effect"

export interface Tool {
  readonly listing: ToolListing
  readonly call: (args: unknown) => CallToolResult
}

const refused = (message: string): CallToolResult => ({ isError: true, content: [{ type: "text", text: message }] })

const describe = (error: ParseResult.ParseError): string =>
  ParseResult.ArrayFormatter.formatErrorSync(error).slice(0, 3).map(({ _tag, message, path }) =>
    _tag === "Missing"
      ? `"${path.join(".")}" is missing`
      : _tag === "Unexpected"
      ? `there is no argument "${path.join(".")}"`
      : `"${path.join(".")}": ${message}`
  ).join("; ").slice(0, 400)

const objectSchema = (schema: Schema.Schema.AnyNoContext): ToolListing["inputSchema"] => {
  return { ...JSONSchema.make(schema, { target: "jsonSchema2020-12" }), type: "object" as const }
}

/**
 * A read-only tool: arguments are checked against its schema, and a refusal (`Left`) is a sentence that says how to do
 * better. Results are given as structured content and, for clients without it, as the same JSON in a text block
 * (MCP 2025-11-25, Tools § Structured Content).
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
        onLeft: (error) => refused(`The arguments are not right: ${describe(error)}.`),
        onRight: (input) =>
          Either.match(options.run(input), {
            onLeft: refused,
            onRight: (output) => ({
              content: [{ type: "text", text: JSON.stringify(output) }],
              structuredContent: output
            })
          })
      })
  }
}
