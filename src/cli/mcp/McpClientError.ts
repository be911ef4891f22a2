import { Data } from "effect"

/** An MCP server could not be reached, or refused the call. The message is a sentence and a hint for the terminal. */
export class McpClientError
  extends Data.TaggedError("McpClientError")<{ readonly message: string; readonly code?: number | undefined }>
{}
