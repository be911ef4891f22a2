import { HttpApiBuilder, HttpApiScalar, HttpServerResponse } from "@effect/platform"
import { Effect, Layer } from "effect"

const home = `<!doctype html>
<html lang="en">
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Berth</title>
<style>body{font:16px/1.6 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}
:root{color-scheme:light dark}</style>
<h1>Berth</h1>
<p>Hosts MCP servers, and gives AI agents a hub and a business directory in which to find them.</p>
<ul>
<li><a href="/docs">The HTTP API, readable</a>, and as <a href="/openapi.json">OpenAPI 3.1</a></li>
<li>The same over MCP: connect a client to <code>/mcp</code></li>
<li><a href="/oauth/grants">Your connected applications</a>: what you allowed, and its end</li>
<li><a href="/v1/health">Health</a></li>
</ul>
</html>
`

const HomeRoute = HttpApiBuilder.Router.use((router) =>
  Effect.asVoid(router.get("/", Effect.succeed(HttpServerResponse.html(home))))
)

/** `/openapi.json`, `/docs` (its page is served whole, nothing is fetched from elsewhere) and a first page. */
export const DocsRoutes = Layer.mergeAll(
  HttpApiBuilder.middlewareOpenApi({ path: "/openapi.json" }),
  HttpApiScalar.layer({ path: "/docs" }),
  HomeRoute
)
