import { AccessTokens } from "#src/oauth/AccessTokens.ts"
import { SigningKeys } from "#src/oauth/SigningKeys.ts"
import { Routes } from "#src/routing/Routes.ts"
import { type ByoaConfig } from "#src/servers/ByoaConfig.ts"
import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SignJWT } from "jose"
import { createServer } from "node:http"
import { type AddressInfo } from "node:net"
import { gatewayServices, newServer, rawRequest, startGateway, startUpstream, statusOf } from "./support.ts"

const echo = startUpstream((req, res) => void res.end(JSON.stringify(req.headers)))
const jsonOf = (response: string): unknown => JSON.parse(response.slice(response.indexOf("\r\n\r\n") + 4))
const headerOf = (response: string, name: string) =>
  new RegExp(`^${name}: (.*)$`, "im").exec(response.slice(0, response.indexOf("\r\n\r\n")))?.[1]?.trim()

layer(gatewayServices(), { excludeTestServices: true })("a hosted server", (it) => {
  it.scoped("takes tokens for its canonical URL alone, at either address", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const server = yield* newServer({ machine: yield* echo })
      const tokens = yield* AccessTokens
      const mint = (audience: string) =>
        tokens.mint({ accountId: "a", audience, scope: "mcp:read mcp:execute", clientId: "c", serverId: server.id })
      const places = [[server.host, "/x"], ["berth.test", `${server.path}/x`]] as const
      for (const [host, path] of places) {
        for (const scheme of ["Bearer", "bearer", "BEARER "]) {
          const { token } = yield* mint(server.audience)
          const response = yield* rawRequest(port, "GET", path, [`Host: ${host}`, `Authorization: ${scheme} ${token}`])
          assert.strictEqual(statusOf(response), 200, response)
          assert.include(response, token, "the machine gets the token")
        }
        for (
          const audience of [server.resource, `${server.audience}/`, `${server.audience}/mcp`, "http://berth.test"]
        ) {
          const { token } = yield* mint(audience)
          const response = yield* rawRequest(port, "GET", path, [`Host: ${host}`, `Authorization: Bearer ${token}`])
          assert.strictEqual(statusOf(response), 401, audience)
        }
      }
    }))

  it.scoped("refuses a token that was made for a server whose name it has now, or for no server", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tokens = yield* AccessTokens
      const routes = yield* Routes
      const { port } = yield* startGateway
      const machine = yield* startUpstream((_, res) => void res.end())
      const old = yield* newServer({ machine })
      const ask = (token: string) =>
        Effect.map(rawRequest(port, "GET", old.path, ["Host: b", `Authorization: Bearer ${token}`]), statusOf)
      assert.strictEqual(yield* ask(old.token), 200)
      const next = yield* newServer({ machine, accountId: old.accountId })
      yield* sql`DELETE FROM servers WHERE id = ${old.id}`
      yield* sql`UPDATE servers SET slug = ${old.slug} WHERE id = ${next.id}`
      routes.expire(old.slug)
      assert.strictEqual(yield* ask(old.token), 401, "of the server before")
      const request = { accountId: old.accountId, audience: old.audience, scope: "mcp:read mcp:execute", clientId: "c" }
      assert.strictEqual(yield* ask((yield* tokens.mint(request)).token), 401, "of no server")
      assert.strictEqual(yield* ask((yield* tokens.mint({ ...request, serverId: next.id })).token), 200)
    }))

  it.scoped("refuses whoever comes without a token, and says where to get one in the form that was used", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const machine = yield* startUpstream(() => assert.fail("nothing may pass"))
      const { host, path, slug } = yield* newServer({ machine })
      for (const method of ["GET", "POST", "DELETE", "PUT", "OPTIONS", "PROPFIND"]) {
        const byHost = yield* rawRequest(port, method, "/mcp", [`Host: ${host}`, "Content-Length: 0"])
        const byPath = yield* rawRequest(port, method, `${path}/sse`, ["Host: elsewhere.test", "Content-Length: 0"])
        assert.deepStrictEqual([statusOf(byHost), statusOf(byPath)], [401, 401])
        assert.strictEqual(
          headerOf(byHost, "www-authenticate"),
          `Bearer resource_metadata="http://${host}/.well-known/oauth-protected-resource/mcp", scope="mcp:execute mcp:write mcp:read"`
        )
        assert.strictEqual(
          headerOf(byPath, "www-authenticate"),
          `Bearer resource_metadata="http://berth.test/.well-known/oauth-protected-resource/s/${slug}/sse", scope="mcp:execute mcp:write mcp:read"`
        )
        assert.strictEqual(headerOf(byPath, "cache-control"), "no-store")
        assert.strictEqual(headerOf(byPath, "access-control-allow-origin"), "*")
        assert.isDefined(headerOf(byPath, "x-request-id"))
        assert.nestedPropertyVal(jsonOf(byPath), "error.code", "UNAUTHORIZED")
      }
    }))

  it.scoped("refuses every token that is not its own: nothing reaches the machine", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const machine = yield* startUpstream(() => assert.fail("nothing may pass"))
      const server = yield* newServer({ machine })
      const other = yield* newServer({ machine, accountId: server.accountId })
      const { key, kid } = yield* (yield* SigningKeys).signing
      const both = yield* Effect.promise(() =>
        new SignJWT({ client_id: "c", scope: "mcp:read" }).setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid })
          .setIssuer("http://berth.test").setSubject("a").setAudience([server.audience, other.audience])
          .setIssuedAt().setExpirationTime("5 minutes").setJti("1").sign(key)
      )
      const credentials = [
        `Bearer ${other.token}`,
        `Bearer ${both}`,
        `Bearer ${server.token}x`,
        `Bearer ${server.token} ${server.token}`,
        `Bearer ${server.token},${other.token}`,
        `Bearer`,
        `Bearer a b`,
        `Basic ${server.token}`,
        server.token,
        "Bearer svc_live_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "Bearer é"
      ]
      for (const value of credentials) {
        const response = yield* rawRequest(port, "GET", `${server.path}/mcp`, ["Host: b", `Authorization: ${value}`])
        assert.strictEqual(statusOf(response), 401, value)
        assert.include(headerOf(response, "www-authenticate"), `error="invalid_token"`)
      }
      // Another server's token is no better after its own server has seen it.
      yield* rawRequest(port, "GET", `${other.path}/.well-known/x`, [
        "Host: b",
        `Authorization: Bearer ${server.token}`
      ])
      const again = yield* rawRequest(port, "GET", server.path, ["Host: b", `Authorization: Bearer ${other.token}`])
      assert.strictEqual(statusOf(again), 401)
    }))

  it.scoped("does not take a token from the URL, alone or beside the header", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const machine = yield* startUpstream(() => assert.fail("nothing may pass"))
      const { path, token } = yield* newServer({ machine })
      const url = `${path}/mcp?access_token=${token}`
      assert.strictEqual(statusOf(yield* rawRequest(port, "GET", url, ["Host: b"])), 401)
      const twice = yield* rawRequest(port, "GET", url, ["Host: b", `Authorization: Bearer ${token}`])
      assert.strictEqual(statusOf(twice), 401)
      assert.include(headerOf(twice, "www-authenticate"), `error="invalid_request"`)
    }))

  it.scoped("describes itself to anybody, in the form that was asked for (RFC 9728)", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const { host, resource, slug } = yield* newServer()
      const expected = (resource: string) => ({
        resource,
        authorization_servers: ["http://berth.test"],
        scopes_supported: ["mcp:read", "mcp:write", "mcp:execute", "offline_access"],
        bearer_methods_supported: ["header"]
      })
      for (const suffix of ["", "/sse", "/mcp", "/sse/", "/mcp/"]) {
        const document = `/.well-known/oauth-protected-resource`
        const [after, before] = [`/s/${slug}${suffix}${document}`, suffix + document]
        assert.deepStrictEqual(jsonOf(yield* rawRequest(port, "GET", after, ["Host: b"])), expected(resource + suffix))
        assert.deepStrictEqual(
          jsonOf(yield* rawRequest(port, "GET", before, [`Host: ${host}`])),
          expected(`http://${host}${suffix}`)
        )
        const byHost = yield* rawRequest(port, "GET", document + suffix, [`Host: ${host}:8787`])
        const byPath = yield* rawRequest(port, "GET", `${document}/s/${slug}${suffix}`, ["Host: berth.test"])
        assert.deepStrictEqual(jsonOf(byHost), expected(`http://${host}${suffix}`))
        assert.deepStrictEqual(jsonOf(byPath), expected(resource + suffix))
        assert.strictEqual(headerOf(byPath, "content-type"), "application/json")
        assert.strictEqual(headerOf(byPath, "access-control-allow-origin"), "*")
      }
      const posted = yield* rawRequest(port, "POST", "/.well-known/oauth-protected-resource", [
        `Host: ${host}`,
        "Content-Length: 0"
      ])
      assert.strictEqual(statusOf(posted), 405)
      const head = yield* rawRequest(port, "HEAD", "/.well-known/oauth-protected-resource", [`Host: ${host}`])
      assert.strictEqual(statusOf(head), 200)
      assert.isTrue(head.endsWith("\r\n\r\n"))
    }))

  it.scoped("that nobody has is 404, whatever is asked of it", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const { host, slug } = yield* newServer()
      const asks = [
        ["berth.test", "/s/nobody/mcp"],
        ["berth.test", "/s/"],
        ["nobody.mcp.test", "/"],
        ["a.b.mcp.test", "/"],
        ["berth.test", "/.well-known/oauth-protected-resource/s/nobody"],
        ["berth.test", "/s/nobody/mcp/.well-known/oauth-protected-resource"],
        ...["oauth-authorization-server", "openid-configuration"].flatMap((name) =>
          [`/.well-known/${name}`, `/.well-known/${name}/mcp`, `/mcp/.well-known/${name}`].flatMap((path) =>
            [["berth.test", `/s/${slug}${path}`], [host, path]] as const
          )
        )
      ] as const
      for (const [asked, target] of asks) {
        const response = yield* rawRequest(port, "GET", target, [`Host: ${asked}`, "Authorization: Bearer x"])
        assert.strictEqual(statusOf(response), 404)
        assert.nestedPropertyVal(jsonOf(response), "error.code", "NOT_FOUND")
      }
      assert.strictEqual(statusOf(yield* rawRequest(port, "GET", "/v1/x", ["Host: berth.test"])), 418)
    }))

  it.scoped("answers a browser's preflight itself, and lets any page read what it may read", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const { path, token } = yield* newServer({ machine: yield* echo })
      const preflight = yield* rawRequest(port, "OPTIONS", `${path}/mcp`, [
        "Host: b",
        "Origin: https://app.example",
        "Access-Control-Request-Method: POST",
        "Access-Control-Request-Headers: authorization,mcp-session-id"
      ])
      assert.strictEqual(statusOf(preflight), 204)
      const allowed = headerOf(preflight, "access-control-allow-headers")?.toLowerCase() ?? ""
      for (const name of ["authorization", "content-type", "mcp-session-id", "mcp-protocol-version", "last-event-id"]) {
        assert.include(allowed, name)
      }
      const headers = ["Host: b", `Authorization: Bearer ${token}`]
      const ask = (...more: ReadonlyArray<string>) => rawRequest(port, "GET", path, [...headers, ...more])
      const fromPage = yield* ask("Origin: https://app.example")
      assert.strictEqual(headerOf(fromPage, "access-control-allow-origin"), "*")
      assert.include(headerOf(fromPage, "access-control-expose-headers"), "Mcp-Session-Id")
      assert.isUndefined(headerOf(fromPage, "access-control-allow-credentials"))
      assert.isUndefined(headerOf(yield* ask(), "access-control-allow-origin"), "no page asked")
    }))

  it.scoped("with CORS rules of its own keeps them", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const machine = yield* startUpstream((_, res) =>
        void res.writeHead(200, { "Access-Control-Allow-Origin": "https://one.example" }).end()
      )
      const { path, token } = yield* newServer({ machine })
      const response = yield* rawRequest(port, "GET", path, [
        "Host: b",
        "Origin: https://one.example",
        `Authorization: Bearer ${token}`
      ])
      assert.strictEqual(response.match(/access-control-allow-origin/gi)?.length, 1)
      assert.strictEqual(headerOf(response, "access-control-allow-origin"), "https://one.example")
    }))

  it.scoped("without a deployment asks for the token first, and then names no time to try again", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const { path, token } = yield* newServer()
      assert.strictEqual(statusOf(yield* rawRequest(port, "GET", path, ["Host: b"])), 401)
      const response = yield* rawRequest(port, "GET", path, ["Host: b", `Authorization: Bearer ${token}`])
      assert.strictEqual(statusOf(response), 503)
      assert.isUndefined(headerOf(response, "retry-after"))
      assert.nestedPropertyVal(jsonOf(response), "error.code", "SERVICE_UNAVAILABLE")
    }))

  it.scoped("in byoa mode gets any well-formed Bearer token as it came, and nothing of the customer's is fetched", () =>
    Effect.gen(function*() {
      const touched: Array<string> = []
      const tripwire = yield* Effect.acquireRelease(
        Effect.async<ReturnType<typeof createServer>>((resume) => {
          const server = createServer((req, res) => {
            touched.push(req.url ?? "")
            res.end("{}")
          }).on("connection", () => touched.push("connection")).listen(
            0,
            "127.0.0.1",
            () => resume(Effect.succeed(server))
          )
        }),
        (server) => Effect.sync(() => server.close())
      )
      const issuer = `http://127.0.0.1:${(tripwire.address() as AddressInfo).port}/Issuer/`
      const byoa: ByoaConfig = {
        issuer,
        jwksUri: `${issuer}jwks?Key=%41`,
        authorizationEndpoint: `${issuer}authorize`,
        tokenEndpoint: `${issuer}token`
      }
      const { port } = yield* startGateway
      const { path, resource, slug } = yield* newServer({ machine: yield* echo, byoa })

      for (const token of ["opaque", "a.b.c", "-._~+/==", "eyJhbGciOiJub25lIn0.e30."]) {
        const response = yield* rawRequest(port, "GET", `${path}/mcp?access_token=theirs`, [
          "Host: b",
          `Authorization: bEaReR ${token}`
        ])
        assert.strictEqual(statusOf(response), 200, token)
        assert.include(response, `"authorization":"bEaReR ${token}"`)
      }
      for (
        const value of ["Bearer", "Bearer  ", "Bearer a b", "Bearer =", "Bearer a=b", "Basic abc", "a", "Bearer a,b"]
      ) {
        const response = yield* rawRequest(port, "GET", path, ["Host: b", `Authorization: ${value}`])
        assert.strictEqual(statusOf(response), 401, value)
        assert.strictEqual(
          headerOf(response, "www-authenticate"),
          `Bearer resource_metadata="http://berth.test/.well-known/oauth-protected-resource/s/${slug}", error="invalid_token"`
        )
      }
      const bare = yield* rawRequest(port, "GET", path, ["Host: b"])
      assert.strictEqual(statusOf(bare), 401)
      assert.notInclude(headerOf(bare, "www-authenticate"), "error")

      const document = yield* rawRequest(port, "GET", `/.well-known/oauth-protected-resource${path}`, ["Host: b"])
      assert.deepStrictEqual(jsonOf(document), {
        resource,
        authorization_servers: [issuer],
        scopes_supported: ["mcp:read", "mcp:write", "mcp:execute", "offline_access"],
        jwks_uri: byoa.jwksUri,
        authorization_endpoint: byoa.authorizationEndpoint,
        token_endpoint: byoa.tokenEndpoint,
        bearer_methods_supported: ["header"]
      })
      assert.deepStrictEqual(touched, [])
    }))
})
