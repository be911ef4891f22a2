import { ownEnvelope, statelessRequest } from "#src/routing/stateless-request.ts"
import { type FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js"
import {
  CallToolResultSchema,
  ErrorCode,
  ListToolsResultSchema,
  McpError,
  ProgressNotificationSchema
} from "@modelcontextprotocol/sdk/types.js"
import { type Exchange } from "./failure.ts"
import { clientInfo, type McpSession } from "./session.ts"

const revision = "2026-07-28"
const { meta, ...envelope } = ownEnvelope(revision, clientInfo)
const progressToken = "berth"

/** Codes with which servers of that revision alone refuse `initialize`. */
const refusals: ReadonlySet<number> = new Set([
  ErrorCode.MethodNotFound,
  ErrorCode.InvalidParams,
  ErrorCode.InvalidRequest,
  -32022,
  -32000
])

/** Whether a server may speak the revision without `initialize`, by how it refused one. */
export const mayBeStateless = (error: unknown, { rpcCode, status = 200 }: Exchange) => {
  const code = error instanceof McpError ? error.code : rpcCode
  return code !== undefined && refusals.has(code) && [200, 400, 404].includes(status)
}

/** A server of revision 2026-07-28: nothing is opened, and each request stands for itself. */
export const statelessSession = (url: URL, fetch: FetchLike): McpSession => {
  const ask = (
    method: string,
    params: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    onNotice?: (method: string, params: unknown) => void
  ) => {
    const token = onNotice === undefined ? {} : { progressToken }
    const request = { method, params, envelope: { ...envelope, meta: { ...meta, ...token } } }
    return statelessRequest(fetch, url, { ...request, ...(onNotice === undefined ? {} : { onNotice }) }, signal)
  }
  return {
    list: async (cursor, signal) =>
      ListToolsResultSchema.parse(await ask("tools/list", cursor === undefined ? {} : { cursor }, signal)),
    call: async ({ args, name, onProgress, signal }) => {
      const noticed = (method: string, params: unknown) => {
        const notice = ProgressNotificationSchema.safeParse({ method, params })
        if (notice.success) onProgress(notice.data.params)
      }
      return CallToolResultSchema.parse(await ask("tools/call", { name, arguments: args }, signal, noticed))
    },
    close: () => Promise.resolve()
  }
}
