import { platformScopes } from "#src/oauth/scopes/platform-resource.ts"
import { newUlid } from "#src/shared/ids.ts"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { type Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { assert, describe, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { compose } from "../support/composites.ts"
import { freshAddress } from "../support/http.ts"
import { mint, secretKey } from "../support/mint.ts"
import { outputValidators } from "../support/output-validators.ts"
import { runSql } from "../support/sql.ts"

const berth = useBerth({ variables: secretKey })

const all = platformScopes.join(" ")
const tokenOf = async (
  account: Account,
  scope = all,
  audience = `${berth.url}/mcp`,
  clientId = "https://app.example/c"
) => {
  const familyId = newUlid()
  await runSql(
    berth.databaseUrl,
    `WITH given AS (
       INSERT INTO oauth_grants (id, user_id, client_id, resource, scopes, redirect_uris_hash)
       VALUES ($1, $2, $3, $4, '{}', '') ON CONFLICT (user_id, client_id, resource) DO UPDATE SET updated_at = now()
       RETURNING id
     ) INSERT INTO token_families (id, grant_id) SELECT $1, id FROM given`,
    [familyId, account.id, clientId, audience]
  )
  return mint(berth, { accountId: account.id, audience, scope, clientId, familyId })
}

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } }
}
const accept = { accept: "application/json, text/event-stream" }
const post = (token: string | undefined, headers: Readonly<Record<string, string>> = {}, path = "/mcp") =>
  berth.request("POST", path, { token, body: initialize, headers: { ...accept, ...headers } })

const connected = async <A>(token: string, use: (client: Client) => Promise<A>, door: "mcp" | "sse" = "mcp") => {
  const url = new URL(`${berth.url}/${door}`)
  const requestInit = { headers: { authorization: `Bearer ${token}`, "x-forwarded-for": freshAddress() } }
  const transport = door === "mcp"
    ? new StreamableHTTPClientTransport(url, { requestInit })
    : new SSEClientTransport(url, { requestInit })
  const client = new Client({ name: "test", version: "1" }, { jsonSchemaValidator: outputValidators })
  await client.connect(transport as Transport)
  return await use(client).finally(() => client.close())
}

const call = async (client: Client, name: string, args: Record<string, unknown> = {}) => {
  const { content, isError = false, structuredContent } = await client.callTool({ name, arguments: args })
  const [first] = content as ReadonlyArray<{ readonly text: string }>
  return { isError, text: first?.text ?? "", data: structuredContent as Record<string, unknown> | undefined }
}
const names = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name)

const challengeOf = ({ headers }: { readonly headers: Headers }) => headers.get("www-authenticate") ?? ""

describe("13 [RS] the protected-resource document of our own MCP door", () => {
  it.each([
    ["/.well-known/oauth-protected-resource/mcp", "/mcp"],
    ["/.well-known/oauth-protected-resource/sse", "/sse"],
    ["/.well-known/oauth-protected-resource/mcp/", "/mcp/"],
    ["/.well-known/oauth-protected-resource/sse/", "/sse/"],
    ["/.well-known/oauth-protected-resource/", "/mcp"],
    ["/.well-known/oauth-protected-resource", "/mcp"]
  ])("%s is for anybody, and its resource is the URL the client used", async (path, resource) => {
    const answer = await berth.request("GET", path, { headers: { origin: "https://inspector.example" } })
    assert.strictEqual(answer.status, 200)
    assert.match(answer.headers.get("content-type") ?? "", /^application\/json/)
    assert.strictEqual(answer.headers.get("access-control-allow-origin"), "*")
    assert.deepStrictEqual(answer.body, {
      resource: berth.url + resource,
      authorization_servers: [berth.url],
      scopes_supported: [...platformScopes, "offline_access"],
      bearer_methods_supported: ["header"],
      resource_name: "Berth"
    })
    const preflight = await berth.request("OPTIONS", path, {
      headers: {
        origin: "https://inspector.example",
        "access-control-request-method": "GET",
        "access-control-request-headers": "mcp-protocol-version"
      }
    })
    assert.strictEqual(preflight.status, 204)
    assert.match(preflight.headers.get("access-control-allow-headers") ?? "", /mcp-protocol-version/i)
  })
})

it("a composite's document names the spelling of its address, and another address is 404 in JSON", async () => {
  const { id } = await compose(await berth.signUp())
  const document = "/.well-known/oauth-protected-resource/mcp/composites"
  for (const slash of ["", "/"]) {
    const found = await berth.request<{ resource: string }>("GET", `${document}/${id}${slash}`)
    assert.deepStrictEqual([found.status, found.body.resource], [200, `${berth.url}/mcp/composites/${id}${slash}`])
    const challenged = await berth.request("POST", `/mcp/composites/${id}${slash}`, { body: initialize })
    assert.include(challengeOf(challenged), `${document}/${id}${slash}"`)
  }
  for (
    const path of [
      `${document}/x`,
      "/mcp/.well-known/oauth-protected-resource",
      "/mcp/.well-known/openid-configuration"
    ]
  ) {
    const missing = await berth.request("GET", path)
    assert.deepStrictEqual([missing.status, missing.headers.get("content-type")], [404, "application/json"], path)
  }
})

describe("14 [RS] a 401 at our own MCP door", () => {
  const scope = `scope="${platformScopes.toReversed().join(" ")}"`

  it.each([["POST", "/mcp"], ["GET", "/mcp"], ["DELETE", "/mcp"], ["POST", "/message?sessionId=x"]])(
    "without credentials is a bare challenge with resource_metadata and scope: %s %s",
    async (method, path) => {
      const answer = await berth.request(method, path, { body: method === "POST" ? initialize : undefined })
      const door = path === "/mcp" ? "mcp" : "sse"
      assert.strictEqual(answer.status, 401)
      assert.strictEqual(
        challengeOf(answer),
        `Bearer resource_metadata="${berth.url}/.well-known/oauth-protected-resource/${door}", ${scope}`
      )
      assert.notInclude(challengeOf(answer), "offline_access")
    }
  )

  it("on the older transport points to that address's document", async () => {
    const answer = await berth.request("GET", "/sse")
    assert.strictEqual(answer.status, 401)
    assert.include(challengeOf(answer), `${berth.url}/.well-known/oauth-protected-resource/sse"`)
  })

  it("for a bad token says invalid_token", async () => {
    const account = await berth.signUp()
    const tokens = [
      `${await tokenOf(account)}x`,
      await tokenOf(account, all, `${berth.url}/mcp/`),
      await tokenOf(account, all, berth.url),
      await tokenOf(account, all, `${berth.url}/s/menu`),
      "svc_live_nothing",
      "a.b.c"
    ]
    for (const token of tokens) {
      const answer = await post(token)
      assert.strictEqual(answer.status, 401, token)
      assert.include(challengeOf(answer), `error="invalid_token"`)
    }
  })

  it("reaches a page of ours: CORS exposes the challenge", async () => {
    const answer = await post(undefined, { origin: berth.url })
    assert.strictEqual(answer.headers.get("access-control-allow-origin"), berth.url)
    assert.include(answer.headers.get("access-control-expose-headers"), "www-authenticate")
  })

  it("ends a token's life, and its user's", async () => {
    const gone = await berth.signUp()
    const token = await tokenOf(gone)
    await runSql(berth.databaseUrl, "DELETE FROM users WHERE id = $1", [gone.id])
    assert.strictEqual((await post(token)).status, 401)
  })
})

describe("15 [RS] a token of our own authorization server", () => {
  it("opens our MCP door, at either of its addresses, and nothing else", async () => {
    const account = await berth.signUp()
    const token = await tokenOf(account)
    assert.strictEqual((await post(token)).status, 200)
    assert.strictEqual((await post(await tokenOf(account, all, `${berth.url}/sse`))).status, 200)
    for (const path of ["/v1/projects", "/v1/auth/me", "/v1/servers", "/v1/billing", "/v1/projects/prj_x/keys"]) {
      const answer = await berth.request("GET", path, { token })
      assert.strictEqual(answer.status, 401, path)
    }
    const created = await berth.request("POST", "/v1/projects", { token, body: { name: "Acme" } })
    assert.strictEqual(created.status, 401)
  })

  it("is not taken from the URL, alone or beside the header", async () => {
    const token = await tokenOf(await berth.signUp())
    const alone = await post(undefined, {}, `/mcp?access_token=${token}`)
    assert.deepStrictEqual([alone.status, challengeOf(alone).includes("error=")], [401, false])
    const both = await post(token, {}, `/mcp?access_token=${token}`)
    assert.strictEqual(both.status, 401)
    assert.include(challengeOf(both), `error="invalid_request"`)
  })

  it("of one client does not get into another's SSE session (SSE hijack), nor does one with other scopes", async () => {
    const account = await berth.signUp()
    const token = await tokenOf(account)
    const stream = await fetch(`${berth.url}/sse`, { headers: { authorization: `Bearer ${token}` } })
    const reader = stream.body!.getReader()
    const path = /data: (\S+)/.exec(new TextDecoder().decode((await reader.read()).value))![1]!
    const others = [
      await tokenOf(await berth.signUp()),
      await tokenOf(account, all, undefined, "https://other.example/c"),
      await tokenOf(account, "servers:read")
    ]
    for (const other of others) assert.strictEqual((await post(other, {}, path)).status, 404)
    assert.strictEqual((await post(undefined, {}, path)).status, 401)
    assert.strictEqual((await post(await tokenOf(account), {}, path)).status, 202)
    await reader.cancel()
  })
})

describe("a client that signed in", () => {
  it("asks for composites with that token alone, whatever was granted, and reads the public ones", async () => {
    const account = await berth.signUp()
    const mine = await compose(account, { name: "Mine" })
    const shown = await compose(account, { name: "Shown", visibility: "public" })
    for (const scope of [all, "servers:read"]) {
      await connected(await tokenOf(account, scope), async (client) => {
        const listed = await names(client)
        assert.includeMembers(listed, ["hub_composites", "hub_browse_composites"])
        assert.isFalse((await call(client, "hub_composites", { city: "Denver" })).isError)
        const browsed = await call(client, "hub_browse_composites")
        assert.deepEqual((browsed.data?.["data"] as ReadonlyArray<{ id: string }>).map(({ id }) => id), [shown.id])
        assert.isFalse((await call(client, "hub_get_composite", { compositeId: shown.id })).isError)
        assert.isFalse((await call(client, "hub_composite_skill", { compositeId: shown.id })).isError)
        const own = await call(client, "call_tool", {
          name: "hub_get_composite",
          arguments: { compositeId: mine.id }
        })
        assert.strictEqual(own.isError, scope !== all, own.text)
      })
    }
  })
})

describe("16 [RS] our own MCP door", () => {
  it("refuses a foreign Origin with 403, whatever the token", async () => {
    const token = await tokenOf(await berth.signUp())
    const answer = await post(token, { origin: "https://evil.example" })
    assert.strictEqual(answer.status, 403)
    assert.isNull(answer.headers.get("access-control-allow-origin"))
  })

  it("refuses an unsupported MCP-Protocol-Version with 400", async () => {
    const token = await tokenOf(await berth.signUp())
    const answer = await berth.request("POST", "/mcp", {
      token,
      body: { jsonrpc: "2.0", id: 1, method: "tools/list" },
      headers: { ...accept, "mcp-protocol-version": "1999-01-01" }
    })
    assert.strictEqual(answer.status, 400)
  })
})

describe.each(["mcp", "sse"] as const)("an OAuth client at /%s", (door) => {
  it("gets the tools of its scopes, and acts in all projects of its user", async () => {
    const account = await berth.signUp("enterprise")
    const projects = [await account.project("One"), await account.project("Two")]
    for (const { id } of projects) await account.server(id)
    const audience = `${berth.url}/${door}`
    await connected(await tokenOf(account, "servers:read", audience), async (client) => {
      const listed = await names(client)
      assert.include(listed, "list_projects")
      for (const name of ["create_project", "update_server", "list_api_keys", "deploy"]) assert.notInclude(listed, name)
      for (const name of ["list_projects", "list_servers"]) {
        const { data } = await call(client, name)
        assert.nestedPropertyVal(data, "meta.total", 2)
      }
    }, door)
  })

  it("lacking a scope is told FORBIDDEN and which one, in the tool's result", async () => {
    const account = await berth.signUp()
    const { id } = await account.project()
    const audience = `${berth.url}/${door}`
    await connected(await tokenOf(account, "servers:read offline_access mcp:execute", audience), async (client) => {
      const asks: ReadonlyArray<readonly [string, Record<string, unknown>, string]> = [
        ["update_project", { projectId: id, name: "New" }, "servers:write"],
        ["create_project", { name: "New" }, "account"],
        ["create_api_key", { projectId: id, name: "k", scopes: ["servers:read"] }, "account"]
      ]
      for (const [name, args, scope] of asks) {
        const { isError, text } = await call(client, name, args)
        assert.isTrue(isError, name)
        assert.nestedPropertyVal(JSON.parse(text), "error.code", "FORBIDDEN")
        assert.deepNestedPropertyVal(JSON.parse(text), "error.details.requiredScopes", [scope])
      }
    }, door)
  })

  it("with account does what needs a session, and no more than its other scopes allow", async () => {
    const account = await berth.signUp()
    await connected(await tokenOf(account, "account", `${berth.url}/${door}`), async (client) => {
      const { data } = await call(client, "create_project", { name: "Mine" })
      const key = await call(client, "create_api_key", { projectId: data?.["id"], name: "k", scopes: ["servers:read"] })
      assert.isFalse(key.isError, key.text)
      assert.isTrue((await call(client, "list_projects")).isError)
    }, door)
  })

  it("sees nothing of other users", async () => {
    const account = await berth.signUp()
    const { id } = await (await berth.signUp()).project()
    await connected(await tokenOf(account, all, `${berth.url}/${door}`), async (client) => {
      const { text } = await call(client, "get_project", { projectId: id })
      assert.nestedPropertyVal(JSON.parse(text), "error.code", "NOT_FOUND")
    }, door)
  })

  it("may as well be a key or a session, as before", async () => {
    const account = await berth.signUp()
    const { id } = await account.project()
    const { key } = await account.key(id, ["servers:read"])
    for (const token of [account.token, key]) {
      await connected(token, async (client) => assert.include(await names(client), "list_projects"), door)
    }
  })
})
