import { closedPolicy, sourceHash } from "#http/answers/content-security.ts"
import { describedRoute, rawRoutes } from "#http/traits/RawRoutes.ts"
import { HttpApi, HttpApiBuilder, HttpServerResponse } from "@effect/platform"
import { Effect, Layer } from "effect"

const homeStyle = "body{font:16px/1.6 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}" +
  ":root{color-scheme:light dark}"

const home = `<!doctype html>
<html lang="en">
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Berth</title>
<style>${homeStyle}</style>
<h1>Berth</h1>
<p>Hosts MCP servers, and gives AI agents a hub and a business directory in which to find them.</p>
<ul>
<li><a href="/docs">The HTTP API, readable</a>, and as <a href="/openapi.json">OpenAPI 3.1</a></li>
<li>The same over MCP: connect a client to <code>/mcp</code></li>
<li>The directory alone over MCP, without a login: <code>/mcp/directory</code></li>
<li><a href="/oauth/grants">Your connected applications</a>: what you allowed, and its end</li>
<li><a href="/v1/health">Health</a></li>
</ul>
</html>
`

const withPolicy = (policy: string) => HttpServerResponse.setHeader("content-security-policy", policy)

const HomeRoute = rawRoutes((add) => {
  const policy = `${closedPolicy}; style-src ${sourceHash(homeStyle)}`
  return add("GET", "/", {}, Effect.succeed(withPolicy(policy)(HttpServerResponse.html(home))))
})

/** The inline scripts of a page that run. */
const scriptsIn = (html: string) =>
  [...html.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)].flatMap(([, attributes = "", text = ""]) =>
    attributes.includes("application/json") ? [] : [text]
  )

/**
 * The page runs its own scripts and calls our own API, on its own origin. The scripts set inline styles, and format
 * requests with WebAssembly.
 */
const docsPolicy = (html: string) =>
  [
    closedPolicy,
    `script-src ${scriptsIn(html).map(sourceHash).join(" ")} 'wasm-unsafe-eval'`,
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'"
  ].join("; ")

/**
 * The library's page, made when it is first asked for: its 3 MB of script are not loaded before. The library only adds
 * it to a router, so it gets one of its own.
 */
const DocsRoute = rawRoutes((add) =>
  Effect.gen(function*() {
    const api = yield* HttpApi.Api
    const page = yield* Effect.cached(Effect.gen(function*() {
      const { layer } = yield* Effect.promise(() => import("@effect/platform/HttpApiScalar"))
      const router = yield* HttpApiBuilder.Router.pipe(
        Effect.flatMap(({ router }) => router),
        Effect.provide(Layer.provideMerge(
          layer({ path: "/docs", scalar: { withDefaultFonts: false } }),
          HttpApiBuilder.Router.Live
        )),
        Effect.provideService(HttpApi.Api, api)
      )
      const response = yield* router
      const { body } = response
      if (body._tag !== "Uint8Array") return response
      return withPolicy(docsPolicy(new TextDecoder().decode(body.body)))(response)
    }))
    return yield* add("GET", "/docs", {}, page)
  })
)

/** `/openapi.json`, `/docs` (self-contained, nothing is fetched from elsewhere) and a home page. */
export const DocsRoutes = Layer.mergeAll(
  HttpApiBuilder.middlewareOpenApi({ path: "/openapi.json" }),
  describedRoute("/openapi.json", { openToPages: true }),
  DocsRoute,
  HomeRoute
)
