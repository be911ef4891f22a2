import { closedPolicy, sourceHash } from "#http/answers/content-security.ts"
import { describedRoute, rawRoutes } from "#http/traits/RawRoutes.ts"
import { HttpApiBuilder, HttpApiScalar, type HttpApp, HttpServerRequest, HttpServerResponse } from "@effect/platform"
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

/** Adds the policy to the library's response, which is the same each time and has no hook for headers. */
const DocsPolicy = HttpApiBuilder.middleware((app: HttpApp.Default) => {
  let policy: string | undefined
  return Effect.gen(function*() {
    const { url } = yield* HttpServerRequest.HttpServerRequest
    const response = yield* app
    if (!/^\/docs(\?|$)/.test(url) || response.status !== 200) return response
    const { body } = response
    if (body._tag === "Uint8Array") policy ??= docsPolicy(new TextDecoder().decode(body.body))
    return policy === undefined ? response : withPolicy(policy)(response)
  })
})

/** `/openapi.json`, `/docs` (self-contained, nothing is fetched from elsewhere) and a home page. */
export const DocsRoutes = Layer.mergeAll(
  HttpApiBuilder.middlewareOpenApi({ path: "/openapi.json" }),
  describedRoute("/openapi.json", { openToPages: true }),
  HttpApiScalar.layer({ path: "/docs", scalar: { withDefaultFonts: false } }),
  describedRoute("/docs"),
  DocsPolicy,
  HomeRoute
)
