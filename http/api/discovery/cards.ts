import { conditional } from "#http/answers/conditional.ts"
import { rawRoutes } from "#http/traits/RawRoutes.ts"
import { cardType, catalogType, ServerCards } from "#src/directory/ServerCards.ts"
import { HttpServerRequest } from "@effect/platform"
import { Effect } from "effect"

/** SEP-2127, Caching. */
const caching = { "cache-control": "public, max-age=3600" }
const traits = { credential: "mcp", openToPages: true, rate: "discovery" } as const

/** The cards of our own MCP endpoints, and the catalog of cards (SEP-2127). Those of hosted servers are the gateway's. */
export const ServerCardRoutes = rawRoutes((add) =>
  Effect.gen(function*() {
    const cards = yield* ServerCards
    const answer = (type: string) => (document: object) =>
      Effect.map(
        HttpServerRequest.HttpServerRequest,
        (request) => conditional(request, JSON.stringify(document), type, caching)
      )
    yield* add("GET", "/mcp/server-card", traits, answer(cardType)(cards.own))
    yield* add("GET", "/mcp/directory/server-card", traits, answer(cardType)(cards.directory))
    yield* add("GET", "/.well-known/ai-catalog.json", traits, Effect.flatMap(cards.catalog, answer(catalogType)))
  })
)
