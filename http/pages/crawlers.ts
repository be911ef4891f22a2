import { conditional } from "#http/answers/conditional.ts"
import { rawRoutes } from "#http/traits/RawRoutes.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { Sitemaps } from "#src/syndication/Sitemaps.ts"
import { HttpRouter, HttpServerRequest } from "@effect/platform"
import { Effect } from "effect"

/** What is for accounts, for programs, or of hosted servers (RFC 9309). The longest rule that matches counts. */
const robotsOf = (baseUrl: string) =>
  [
    "User-agent: *",
    ...["/api/", "/v1/", "/oauth/", "/hub/listings", "/mcp", "/sse", "/message", "/s/"].map((path) =>
      `Disallow: ${path}`
    ),
    ...["/mcp/server-card", "/mcp/directory/server-card"].map((path) => `Allow: ${path}`),
    "",
    `Sitemap: ${baseUrl}/sitemap.xml`,
    ""
  ].join("\n")

const caching = { "cache-control": "public, max-age=3600" }

/** What crawlers of searchers ask for: robots.txt, and the pages of all listings in sitemaps. */
export const CrawlerRoutes = rawRoutes((add) =>
  Effect.gen(function*() {
    const sitemaps = yield* Sitemaps
    const { baseUrl } = yield* CurrentSettings
    const robots = robotsOf(baseUrl)
    const traits = { credential: "hub", codes: "lower", rate: "directory" } as const
    const answer = <E, R>(contentType: string, document: Effect.Effect<string, E, R>) =>
      Effect.zipWith(
        HttpServerRequest.HttpServerRequest,
        document,
        (request, text) => conditional(request, text, contentType, caching)
      )
    const xml = "application/xml; charset=utf-8"
    yield* add("GET", "/robots.txt", traits, answer("text/plain; charset=utf-8", Effect.succeed(robots)))
    yield* add("GET", "/sitemap.xml", traits, answer(xml, sitemaps.index))
    yield* add(
      "GET",
      "/sitemaps/:file",
      traits,
      answer(xml, Effect.flatMap(HttpRouter.params, ({ file = "" }) => sitemaps.part(file)))
    )
  })
)
