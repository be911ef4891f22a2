import { rpcIdIn } from "#http/answers/json-rpc.ts"
import { read } from "#http/api/middleware/bodies.ts"
import { type Traits } from "#http/traits/Traits.ts"
import { type Failure } from "#src/shared/Failure.ts"
import { type HttpServerRequest } from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Effect, Option } from "effect"

/** A caller over its rate is read for its id alone: no further, and no longer. */
const maxBytes = 64 * 1024
const patience = "2 seconds"

const idIn = (request: HttpServerRequest.HttpServerRequest) => {
  const source = NodeHttpServerRequest.toIncomingMessage(request)
  const length = Number(request.headers["content-length"] ?? Infinity)
  if (source.readableDidRead || request.headers["expect"] !== undefined || !(length <= maxBytes)) {
    return Effect.succeed(null)
  }
  return read(source, maxBytes).pipe(
    Effect.timeout(patience),
    Effect.option,
    Effect.map(Option.match({ onNone: () => null, onSome: (bytes) => rpcIdIn(bytes.toString()) }))
  )
}

/** A message that a limit refuses is answered with a JSON-RPC error (MCP 2025-11-25, Streamable HTTP). */
export const messageFailure = (
  request: HttpServerRequest.HttpServerRequest,
  { body }: Traits,
  failure: Failure
): Effect.Effect<Failure> =>
  request.method === "POST" && body === "message" && failure.status === 429 && failure.jsonRpc === undefined
    ? Effect.map(idIn(request), (id) => ({ ...failure, jsonRpc: { code: -32000, id } }))
    : Effect.succeed(failure)
