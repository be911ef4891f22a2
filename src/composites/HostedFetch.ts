import { type FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js"
import { Context } from "effect"

/**
 * `fetch` of the public URLs of hosted servers, through the gateway of this process: what a client's request passes
 * there, ours does, too (token, scopes, the month's limit, metering). `headers` are sent with each request.
 */
export class HostedFetch extends Context.Tag("composites/HostedFetch")<
  HostedFetch,
  (headers: Readonly<Record<string, string>>) => FetchLike
>() {}
