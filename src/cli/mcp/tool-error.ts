import { ErrorAnswer } from "#src/cli/error-answer.ts"
import { exitCodeOf } from "#src/cli/exit-codes.ts"
import { type CallToolResult } from "@modelcontextprotocol/sdk/types.js"
import { Option, Schema } from "effect"

const decode = Schema.decodeUnknownOption(Schema.parseJson(ErrorAnswer))

/** What a tool's error ends a command with: by the installation's code in it, as everywhere (docs/cli.md). */
export const exitCodeOfResult = ({ content: [first] }: CallToolResult) =>
  exitCodeOf(undefined, Option.getOrUndefined(decode(first?.type === "text" ? first.text : ""))?.error?.code)
