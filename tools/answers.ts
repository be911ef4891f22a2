import { didYouMean } from "#src/format/nearest.ts"
import { type Failure } from "#src/shared/Failure.ts"
import { type Report } from "#src/shared/progress.ts"
import { type CallToolResult, ErrorCode } from "@modelcontextprotocol/sdk/types.js"
import { Cause, Effect } from "effect"
import { failureOf } from "./failures.ts"
import { nextPage } from "./paging.ts"
import { withoutLengths } from "./plain-schema.ts"
import { linksOf } from "./result-links.ts"
import { resultText } from "./result-text.ts"
import { type Tool } from "./Tool.ts"

/** Not the SDK's McpError: it puts "MCP error -32602:" before the message, and clients do so again. */
export const unknownTool = (name: string, names: ReadonlyArray<string> = [], next = "") => {
  const hint = [didYouMean(name, names).trim(), next].filter((part) => part !== "").join(" ")
  const brief = name.slice(0, 128).toWellFormed()
  return Object.assign(new Error(`There is no tool ${brief}${hint === "" ? "" : `. ${hint}`}`), {
    code: ErrorCode.InvalidParams
  })
}

/** A tool as a list has it. */
export const describeTool = ({ annotations, description, inputSchema, name, outputSchema, title }: Tool) => ({
  name,
  title,
  description,
  inputSchema,
  ...(outputSchema === undefined ? {} : { outputSchema }),
  annotations
})

/** As the everyday list has a tool: without its output, what stands there twice, and lengths, which errors tell. */
export const shortOf = ({ annotations, inputSchema, outputSchema: _, ...tool }: ReturnType<typeof describeTool>) => {
  const { title: _title, ...hints } = annotations
  return { ...tool, inputSchema: withoutLengths(inputSchema), annotations: hints }
}

/** Who asks: a client of a revision without structuredContent gets the whole value as text. */
export interface Reading {
  readonly structured: boolean
}

/** The first revision with `structuredContent` (MCP 2025-06-18, changelog). Clients name theirs since that one, too. */
export const readingOf = (revision: string | ReadonlyArray<string> | undefined): Reading => ({
  structured: typeof revision === "string" && revision >= "2025-06-18"
})

/** The value in words, the call for the next page, and links, which came with the same revision. */
const readable = <R>(tool: Tool<R>, args: unknown, value: unknown): CallToolResult["content"] => {
  const { text = resultText } = tool
  const next = nextPage(tool, args, value)
  return [
    { type: "text", text: next === undefined ? text(value) : `${text(value)}\n${next}` },
    ...linksOf(value)
  ]
}

const content = <R>(tool: Tool<R>, args: unknown, { structured }: Reading) => (value: unknown): CallToolResult =>
  value === undefined ? { content: [{ type: "text", text: "Done" }] } : {
    content: structured ? readable(tool, args, value) : [{ type: "text", text: JSON.stringify(value) }],
    structuredContent: value as Record<string, unknown>
  }

/** The same envelope as over HTTP. */
export const failed =
  ({ lowerCaseCodes }: Pick<Tool, "lowerCaseCodes">) => ({ code, details, message }: Failure): CallToolResult => {
    const spelled = lowerCaseCodes ? code.toLowerCase() : code
    const body = { error: { code: spelled, message, ...(details === undefined ? {} : { details }) } }
    return { isError: true, content: [{ type: "text", text: JSON.stringify(body) }] }
  }

/** Runs a tool; its failures are results, in the envelope of HTTP. */
export const answerOf = <R>(tool: Tool<R>, args: unknown, report: Report, reading: Reading) =>
  tool.call(args, report).pipe(
    Effect.map(content(tool, args, reading)),
    Effect.catchAllCause((cause) =>
      Cause.isInterruptedOnly(cause) ? Effect.interrupt : Effect.map(failureOf(cause), failed(tool))
    ),
    Effect.withSpan(`mcp.${tool.name}`)
  )
