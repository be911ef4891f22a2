import { isLostSession } from "#src/composites/lost-session.ts"
import { StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { describe, expect, it } from "vitest"

const refused = (status: number, body: string) => new StreamableHTTPError(status, `Error POSTing to endpoint: ${body}`)
const rpc = (code: number, message: string) => JSON.stringify({ jsonrpc: "2.0", error: { code, message }, id: null })

describe("a member has forgotten the session", () => {
  it.each([
    [404, "Session not found"],
    [404, "{}"],
    [400, rpc(-32600, "Session not found")],
    [400, rpc(-32600, "Session not found or expired")],
    [400, rpc(-32001, "Session not found")],
    [400, rpc(-32000, "Bad Request: No valid session ID provided")],
    [400, rpc(-32000, "Bad Request: Server not initialized")],
    [400, rpc(-32000, "Bad Request: Session expired, please reinitialize")],
    [400, rpc(-32000, "Unknown session")],
    [400, rpc(-32000, "No active session")],
    [400, rpc(-32000, "The session does not exist")],
    [400, "Invalid or missing session ID"],
    [400, "No transport found for sessionId"],
    [400, "Bad Request: Missing session ID"],
    [400, "mcp-session-id abc is no longer valid"]
  ])("%s %s", (status, body) => expect(isLostSession(refused(status, body))).toBe(true))

  it.each([
    [400, rpc(-32602, "Session not found")],
    [400, rpc(-32602, "Invalid arguments: session is required")],
    [400, rpc(-32603, "yoga session not found")],
    [400, rpc(-32000, "Invalid arguments")],
    [400, rpc(-32000, "There is no table for a session of six")],
    [400, "The body is not JSON"],
    [400, "A session has at most ten guests"],
    [401, "Session expired"],
    [500, "Session not found"]
  ])("not where it answers %s %s", (status, body) => expect(isLostSession(refused(status, body))).toBe(false))
})
