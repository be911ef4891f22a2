import { compressed } from "#http/answers/compressed.ts"
import { closedPolicy, sourceHash } from "#http/answers/content-security.ts"
import { rawRoutes } from "#http/traits/RawRoutes.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { HttpApi, HttpServerRequest, HttpServerResponse, OpenApi } from "@effect/platform"
import { Effect, Layer } from "effect"
import { type Document } from "./reference/Document.ts"
import { referencePage, referencePolicy } from "./reference/page.ts"

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

/** What is the same for everybody, made when it is first asked for: no start waits for it. */
const madeOnce = (make: (api: HttpApi.Api["Type"]["api"], baseUrl: string) => ReturnType<typeof compressed>) =>
  Effect.gen(function*() {
    const { api } = yield* HttpApi.Api
    const { baseUrl } = yield* CurrentSettings
    const made = yield* Effect.cached(Effect.sync(() => make(api, baseUrl)))
    return Effect.flatMap(
      HttpServerRequest.HttpServerRequest,
      (request) => Effect.map(made, (answer) => answer(request))
    )
  })

/** `/openapi.json`, `/docs` (self-contained, nothing is fetched from elsewhere) and a home page. */
export const DocsRoutes = Layer.mergeAll(
  rawRoutes((add) =>
    Effect.gen(function*() {
      const openApi = yield* madeOnce((api) => compressed(JSON.stringify(OpenApi.fromApi(api)), "application/json", {}))
      const reference = yield* madeOnce((api, baseUrl) =>
        compressed(
          referencePage(OpenApi.fromApi(api) as unknown as Document, baseUrl),
          "text/html; charset=utf-8",
          { "content-security-policy": referencePolicy, "x-frame-options": "DENY" }
        )
      )
      yield* add("GET", "/openapi.json", { openToPages: true }, openApi)
      yield* add("GET", "/docs", {}, reference)
    })
  ),
  HomeRoute
)
