import { rpcIdIn } from "#http/answers/json-rpc.ts"
import { crowdedSeconds, crowdedText, makeCounts, mostOfAccount, whileOpen } from "#http/connection/crowd.ts"
import { Descriptors, fullText } from "#http/connection/Descriptors.ts"
import { type Actor } from "#src/accounts/CurrentActor.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { HttpServerRequest } from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Effect, Schema } from "effect"

export class TooManyStreams extends Schema.TaggedError<TooManyStreams>()("TooManyStreams", {
  most: Schema.Int,
  /** Of the message that asked; undefined: it was none. */
  id: Schema.UndefinedOr(Schema.NullOr(Schema.Union(Schema.String, Schema.Number)))
}, failsWith(429)) {
  override get message() {
    return crowdedText("Your account", this.most, "MCP calls and event streams open at the platform itself")
  }
  get retryAfter() {
    return crowdedSeconds
  }
  get jsonRpc() {
    return this.id === undefined ? undefined : { code: -32000, id: this.id }
  }
}

export class NoDescriptorLeft extends Schema.TaggedError<NoDescriptorLeft>()("NoDescriptorLeft", {}, failsWith(503)) {
  override get message() {
    return fullText
  }
  get retryAfter() {
    return crowdedSeconds
  }
}

/**
 * How many event streams an account may have open at the platform's own doors, as at hosted servers
 * (docs/decisions/silent-streams.md). An MCP call is one, since a stream answers it.
 */
export class OpenStreams extends Effect.Service<OpenStreams>()("http/OpenStreams", {
  effect: Effect.gen(function*() {
    const descriptors = yield* Descriptors
    const most = mostOfAccount(descriptors.limit)
    const accounts = makeCounts()
    let open = 0
    descriptors.watch(() => open)

    /** Lets in the stream that answers this request, until its response is closed. */
    const enter = Effect.fnUntraced(function*({ accountId }: Pick<Actor, "accountId">) {
      const request = yield* HttpServerRequest.HttpServerRequest
      const response = NodeHttpServerRequest.toServerResponse(request)
      const isFull = descriptors.isFull()
      if (!isFull && accounts.of(accountId) < most) {
        return whileOpen(response, (change) => {
          open += change
          accounts.add(accountId, change)
        })
      }
      // Its connection is needed.
      response.shouldKeepAlive = false
      if (isFull) return yield* new NoDescriptorLeft()
      const id = request.method === "POST" ? rpcIdIn(yield* Effect.orElseSucceed(request.text, () => "")) : undefined
      return yield* new TooManyStreams({ most, id })
    })

    return { enter } as const
  }),
  dependencies: [Descriptors.Default]
}) {}
