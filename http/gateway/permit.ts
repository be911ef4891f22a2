import { type AccessTokenClaims } from "#src/oauth/AccessTokens.ts"
import {
  allowsEverything,
  anyScope,
  everything,
  mcpScopesIn,
  missingScopes,
  type Need,
  needsOf,
  partOfMcp,
  scopesToAsk,
  toolsInDoubt
} from "#src/oauth/scopes/mcp-scopes.ts"
import { gatewayTokenHeader } from "#src/routing/addressing.ts"
import { type Route } from "#src/routing/Route.ts"
import { envelopeOf } from "#src/routing/stateless-request.ts"
import { type IncomingMessage } from "node:http"
import { hasBody } from "./framing.ts"
import { readBody } from "./read-body.ts"
import { readRpcBody, type RpcBody } from "./rpc-body.ts"
import { type ToolMarks } from "./tool-marks.ts"

/** Bodies are inspected up to this size; a larger one counts as unknown. */
const maxBytes = 1024 * 1024

export type Verdict =
  /** `body`: read completely for the inspection. */
  | { readonly _tag: "Permitted"; readonly body: Buffer | undefined }
  /** `scopes`: those needed and those the token has. */
  | { readonly _tag: "Insufficient"; readonly scopes: string }
  | { readonly _tag: "Rejected"; readonly status: number; readonly reason: string }

/** Whether a token's use must be inspected. Not in byoa mode, where its scopes are unknown. */
export const needsInspection = (claims: AccessTokenClaims | undefined): claims is AccessTokenClaims =>
  claims !== undefined && !allowsEverything(claims.scope)

const header = ({ headers }: IncomingMessage, name: string) => {
  const value = headers[name]
  return Array.isArray(value) ? value.join(", ") : value
}

const rpcBodyOf = (req: IncomingMessage, bytes: Buffer): RpcBody =>
  readRpcBody(bytes, {
    contentType: header(req, "content-type"),
    contentEncoding: header(req, "content-encoding"),
    method: header(req, "mcp-method"),
    name: header(req, "mcp-name"),
    revision: header(req, "mcp-protocol-version")
  })

/** Headers by which some frameworks override a request's method or path. */
const overrideHeaders = [
  "x-http-method-override",
  "x-http-method",
  "x-method-override",
  "x-original-url",
  "x-rewrite-url"
] as const

/** Whether a machine may interpret a request differently from the gateway. */
const isAmbiguous = ({ headers, headersDistinct }: IncomingMessage) =>
  overrideHeaders.some((name) => headers[name] !== undefined) ||
  (headersDistinct["content-type"]?.length ?? 0) > 1 ||
  /\bcontent-(type|encoding)\b/i.test(headers.connection ?? "")

/** Compares what a request does with what its token allows (docs/security.md, "Scopes"). */
export const permitter = (marks: ToolMarks) => {
  const changesOf = (
    req: IncomingMessage,
    path: string,
    route: Route,
    tools: ReadonlySet<string>,
    message: unknown
  ) => {
    const { activeDeploymentId, host, machine, replayToken } = route
    if (tools.size === 0 || machine === undefined || activeDeploymentId === null) return new Set<string>()
    const { authorization = "" } = req.headers
    return marks(activeDeploymentId, tools, {
      machine,
      path,
      envelope: envelopeOf(message, header(req, "mcp-protocol-version")),
      headers: { authorization, host, [gatewayTokenHeader]: replayToken }
    })
  }

  return async (req: IncomingMessage, path: string, route: Route, { scope }: AccessTokenClaims): Promise<Verdict> => {
    const granted = mcpScopesIn(scope)
    const decide = async (
      needs: ReadonlyArray<Need>,
      body: Buffer | undefined,
      message?: unknown
    ): Promise<Verdict> => {
      const inDoubt = toolsInDoubt(needs, granted)
      const missing = missingScopes(needs, granted, await changesOf(req, path, route, inDoubt, message))
      const scopes = scopesToAsk(missing, granted)
      return scopes === undefined ? { _tag: "Permitted", body } : { _tag: "Insufficient", scopes }
    }

    if (isAmbiguous(req)) return decide([everything], undefined)
    const part = partOfMcp(req.method ?? "", path, req.headers.accept)
    if (part === "conversation" && !hasBody(req)) return decide([anyScope], undefined)
    if (part !== "message" || !hasBody(req)) return decide([everything], undefined)
    const read = await readBody(req, maxBytes)
    if (read._tag === "Gone") return { _tag: "Rejected", status: 408, reason: "The body did not arrive" }
    if (read._tag === "TooLarge") return decide([everything], undefined)
    const rpc = rpcBodyOf(req, read.bytes)
    if (rpc._tag === "Doubtful") return { _tag: "Rejected", status: 400, reason: rpc.reason }
    return rpc._tag === "Json"
      ? decide(needsOf(rpc.value), read.bytes, rpc.value)
      : decide([everything], read.bytes)
  }
}
