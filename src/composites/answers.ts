import { lineOf } from "#src/shared/outside-text.ts"
import { type CallToolResult, CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js"
import { Predicate } from "effect"
import { inWords } from "./in-words.ts"
import { type JsonSchema, mostBusinesses } from "./input-schema.ts"
import { MemberCode } from "./member-code.ts"
import { type Outcome } from "./MemberCalls.ts"
import { parsedResult } from "./parsed-result.ts"

/** What one member answered to a merged tool. */
export interface MemberAnswer {
  readonly slug: string
  readonly status: "ok" | "error" | "timeout"
  readonly result?: unknown
  /** Why there is no result; none where the member's tool itself says so. */
  readonly code?: MemberCode
  /** The same in words. */
  readonly message?: string
}

/** The output schema of every merged tool; `shape` says where the shape of a result is told. */
const answersSchemaWith = (shape: string): JsonSchema => ({
  type: "object",
  properties: {
    answers: {
      type: "array",
      items: {
        type: "object",
        properties: {
          slug: { type: "string" },
          status: { type: "string", enum: ["ok", "error", "timeout"] },
          result: { description: `What the business's tool answered${shape}` },
          code: {
            type: "string",
            enum: [...MemberCode.literals],
            description: "Why there is no result; absent where the business's tool itself says what is wrong"
          },
          message: { type: "string", description: "The same in words" }
        },
        required: ["slug", "status"],
        additionalProperties: false
      }
    },
    notAsked: {
      type: "array",
      items: { type: "string" },
      description: `Slugs of those left out, since one call asks ${mostBusinesses} at most: name them in businesses`
    }
  },
  required: ["answers"],
  additionalProperties: false
})

/** Where tools are listed, nothing tells the shape of a result. */
export const listedAnswers = answersSchemaWith(", in that tool's own shape")
/** As `describe_tools` has it. */
export const describedAnswers = answersSchemaWith("; resultSchema tells its shape, where it is the same for all")

type Result = Readonly<Record<string, unknown>>

const blocksOf = ({ content }: Result): ReadonlyArray<Result> =>
  Array.isArray(content) ? content.filter(Predicate.isRecord) : []

const textOf = (result: Result) =>
  blocksOf(result).flatMap(({ text, type }) => type === "text" && typeof text === "string" ? [text] : []).join("\n")

const isTextAlone = (result: Result) => blocksOf(result).every(({ type }) => type === "text")

/** The structured content, else the text, else the blocks as they came. */
const valueOf = (result: Result): unknown =>
  result["structuredContent"] ?? (isTextAlone(result) ? textOf(result) : blocksOf(result))

/** Input that a member asks for (MCP 2026-07-28) goes to nobody: a composite keeps no state between calls. */
export const inputNeeded = {
  code: "member_needs_input",
  message: "it asks for further input, which a composite can't pass on: connect to it"
} as const

export const asksForInput = (result: Result) => result["resultType"] === "input_required"

/** A result that is none of a tool would be shown as one that says nothing. */
export const noToolResult = {
  code: "member_answer_invalid",
  message: "its answer is not a valid result of a tool"
} as const

export const toolResultOf = (result: unknown): CallToolResult | undefined =>
  parsedResult(CallToolResultSchema, "content", result) as CallToolResult | undefined

/** A member's answer, and what a person reads of it. */
export interface ToldAnswer {
  readonly answer: MemberAnswer
  readonly words: string
}

const failedAnswer = (answer: MemberAnswer & { readonly message: string }): ToldAnswer => ({
  answer,
  words: answer.message
})

/** A block of content in words; bytes are only named. */
const blockInWords = ({ mimeType, name, resource, text, type, uri }: Result): string => {
  if (type === "text") return inWords(text)
  const { text: inner, uri: at } = Predicate.isRecord(resource) ? resource : {}
  if (typeof inner === "string") return inWords(inner)
  const label = [name, uri, at, mimeType].find((one) => typeof one === "string" && one !== "")
  return label === undefined ? String(type) : `${String(type).replaceAll("_", " ")}: ${String(label)}`
}

const wordsOf = (result: Result): string =>
  Predicate.isNotNullable(result["structuredContent"])
    ? inWords(result["structuredContent"])
    : blocksOf(result).map(blockInWords).join("; ") || inWords("")

export const answerOf = (slug: string, outcome: Outcome): ToldAnswer => {
  if (outcome._tag === "Failed") {
    const { code, message } = outcome
    return failedAnswer({ slug, status: code === "member_timeout" ? "timeout" : "error", code, message })
  }
  const { result } = outcome
  if (asksForInput(result)) return failedAnswer({ slug, status: "error", ...inputNeeded })
  if (toolResultOf(result) === undefined) return failedAnswer({ slug, status: "error", ...noToolResult })
  const words = wordsOf(result)
  return result["isError"] === true
    ? failedAnswer({ slug, status: "error", message: lineOf(words, 1_000) })
    : { answer: { slug, status: "ok", result: valueOf(result) }, words }
}

/** Letters of a cell, so that a table of ten fits a screen. */
const longestCell = 1_200

const cellOf = (text: string, most: number) => lineOf(text, most).replace(/[|\\]/g, "\\$&")

/** The answers as a table in words, for readers without structured content; a long answer is cut there. */
const tableOf = (answers: ReadonlyArray<ToldAnswer>, notAsked: ReadonlyArray<string>): string => {
  const rows = answers.map(({ answer: { slug, status }, words }) =>
    `| ${slug} | ${status} | ${cellOf(words, longestCell)} |`
  )
  const left = `Not asked, since one call asks ${mostBusinesses} at most: ${
    notAsked.join(", ")
  }. Name them in businesses.`
  return ["| Business | Status | Answer |", "|---|---|---|", ...rows, ...notAsked.length === 0 ? [] : ["", left]]
    .join("\n")
}

/** The result of a merged tool: an error only when no member answered. */
export const resultOf = (
  told: ReadonlyArray<ToldAnswer>,
  notAsked: ReadonlyArray<string>
): CallToolResult => ({
  content: [{ type: "text", text: tableOf(told, notAsked) }],
  structuredContent: { answers: told.map(({ answer }) => answer), ...(notAsked.length === 0 ? {} : { notAsked }) },
  ...(told.some(({ answer }) => answer.status === "ok") ? {} : { isError: true })
})
