import { etagOf, isKnown } from "#http/answers/conditional.ts"
import { cardType } from "#src/directory/ServerCards.ts"
import { type Target } from "#src/servers/locate.ts"
import { type IncomingMessage } from "node:http"
import { type Answer } from "./answer.ts"

/** SEP-2127 reserves `<mcp-url>/server-card`. A card of a listed server is read without a token. */
export const asksForCard = ({ method }: IncomingMessage, { kind, path }: Target) =>
  kind === "proxy" && (method === "GET" || method === "HEAD") && /^\/mcp\/server-card(?:\?|$)/.test(path)

export const cardAnswer = ({ headers }: IncomingMessage, card: object): Answer => {
  const etag = etagOf(JSON.stringify(card))
  const caching = { "Cache-Control": "public, max-age=3600", ETag: etag }
  return isKnown(headers["if-none-match"], etag)
    ? { status: 304, headers: caching }
    : { status: 200, body: card, headers: { ...caching, "Content-Type": cardType } }
}
