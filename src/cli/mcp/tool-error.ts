import { ErrorAnswer, errorText } from "#src/cli/error-answer.ts"
import { exitCodeOf, exitCodes } from "#src/cli/exit-codes.ts"
import { type CallToolResult } from "@modelcontextprotocol/sdk/types.js"
import { Option, Schema } from "effect"
import { renderResult } from "./render.ts"

const decode = Schema.decodeUnknownOption(Schema.parseJson(ErrorAnswer))

/**
 * What a tool's error ends a command with. That of an installation is the envelope of its API as text: then its sentences,
 * line by line, and its code decides, as everywhere (docs/cli.md).
 */
export const errorOfResult = (result: CallToolResult) => {
  const { content: [first] } = result
  const answer = Option.getOrUndefined(decode(first?.type === "text" ? first.text : ""))
  return answer?.error === undefined
    ? { message: renderResult(result), code: exitCodes.failed }
    : { message: errorText(answer), code: exitCodeOf(undefined, answer.error.code) }
}

const deploying = ["deploy", "rollback", "wait_for_deployment"]
const isFailed = Schema.is(
  Schema.Struct({ id: Schema.TemplateLiteral("dep_", Schema.String), status: Schema.Literal("failed") })
)

/** Whether a tool waited for a deployment of an installation that has failed, which is an answer and no error of the tool. */
export const isFailedDeployment = (tool: string, { structuredContent = {} }: CallToolResult) =>
  deploying.includes(tool) && (isFailed(structuredContent) || isFailed(structuredContent["deployment"]))
