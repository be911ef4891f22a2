import { etagOf, isKnown } from "#http/answers/conditional.ts"
import { rateHeaders } from "#http/answers/rate-headers.ts"
import { type ByHubKey, type HubCaller, hubKeyOf } from "#http/callers/hub-key.ts"
import { rateOfHubKey } from "#http/callers/rate-buckets.ts"
import { cardType, type ServerCards } from "#src/directory/ServerCards.ts"
import { type Target } from "#src/servers/locate.ts"
import { describe } from "#src/shared/Failure.ts"
import { Effect, type Option } from "effect"
import { type IncomingMessage } from "node:http"
import { type Answer } from "./answer.ts"

/** SEP-2127 reserves `<mcp-url>/server-card`. A card of a listed server is read without a token. */
export const asksForCard = ({ method }: IncomingMessage, { kind, path }: Target) =>
  kind === "proxy" && (method === "GET" || method === "HEAD") && /^\/mcp\/server-card(?:\?|$)/.test(path)

const cardAnswer = ({ headers }: IncomingMessage, card: object): Answer => {
  const etag = etagOf(JSON.stringify(card))
  const caching = { "Cache-Control": "public, max-age=3600", ETag: etag }
  return isKnown(headers["if-none-match"], etag)
    ? { status: 304, headers: caching }
    : { status: 200, body: card, headers: { ...caching, "Content-Type": cardType } }
}

const refusal = ({ error }: Extract<HubCaller, { _tag: "Refused" }>): Answer => {
  const { code = "UNAUTHORIZED", details, message = "", retryAfter, status = 401 } = describe(error) ?? {}
  return {
    status,
    body: { error: { code, message, ...(details === undefined ? {} : { details }) } },
    headers: retryAfter === undefined ? { "WWW-Authenticate": "Bearer" } : { "Retry-After": String(retryAfter) }
  }
}

/**
 * Makes the function that answers with a server's card; none when the server is not listed. A hub key counts here as it
 * does everywhere (docs/hub.md), and is refused when it was revoked or is spent.
 */
export const cardReader =
  (cards: ServerCards, byHubKey: ByHubKey) =>
  (req: IncomingMessage, slug: string): Effect.Effect<Option.Option<Answer>> =>
    Effect.flatMap(
      cards.ofServer(slug),
      Effect.transposeMapOption((card) => {
        const key = hubKeyOf(req.headers)
        if (key === undefined) return Effect.succeed(cardAnswer(req, card))
        return Effect.map(byHubKey(key), (caller): Answer => {
          const reply = caller._tag === "Refused" ? refusal(caller) : cardAnswer(req, card)
          const rate = rateOfHubKey(caller)
          return rate === undefined ? reply : { ...reply, headers: { ...rateHeaders(rate), ...reply.headers } }
        })
      })
    )
