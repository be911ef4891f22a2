import { decodeJwt } from "jose"
import { beforeAll, describe, expect, it } from "vitest"
import { type Account, type Key, type Listed, type Project } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type Flow, newFlow, postForm, type TokenBody } from "../support/oauth.ts"
import { runSql } from "../support/sql.ts"

interface Listing extends Key {
  readonly grantId: string | null
}
interface Grant {
  readonly id: string
}
interface Called {
  readonly isError?: boolean
  readonly structuredContent: Listing
}

const berth = useBerth()
let flow: Flow
let project: Project
beforeAll(async () => {
  flow = await newFlow(berth)
  project = await flow.user.project()
})

const door = () => `${berth.url}/mcp`

/** Tokens of a fresh authorization of the client for all that its user may do. */
const authorized = (by = flow) => by.tokens({ resource: door(), scope: "account servers:read offline_access" })

/** One call of a tool at our MCP door; none when the token is not good there. */
const call = async (token: string, name: string, args: unknown) => {
  const answer = await berth.request("POST", "/mcp", {
    token,
    body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } },
    headers: { accept: "application/json, text/event-stream" }
  })
  if (answer.status === 401) return undefined
  const text = /^data: (.*)$/m.exec(answer.text)?.[1] ?? answer.text
  return (JSON.parse(text) as { result: Called }).result
}

/** The key that a client makes; none when it may not any more. */
const made = async ({ access_token }: TokenBody, projectId = project.id) => {
  const result = await call(access_token, "create_api_key", {
    projectId,
    name: "by a client",
    scopes: ["servers:read"]
  })
  return result === undefined || result.isError === true ? undefined : result.structuredContent
}

const key = async (tokens: TokenBody, projectId?: string) => {
  const found = await made(tokens, projectId)
  if (found === undefined) throw new Error("expected a key")
  return found
}

const status = async (key: string) => (await berth.request("GET", "/v1/projects", { token: key })).status
const keysOf = async (account: Account, projectId = project.id) =>
  (await account.get<Listed<Listing>>(`/v1/projects/${projectId}/keys`)).body.data
const grantsOf = async (user: Account) => (await user.get<Listed<Grant>>("/v1/auth/grants")).body.data

const revokeGrants = async (user: Account) => {
  for (const { id } of await grantsOf(user)) expect((await user.delete(`/v1/auth/grants/${id}`)).status).toBe(204)
}

describe("an API key that an OAuth client made", () => {
  it("names the grant that it ends with, and works as any other", async () => {
    const tokens = await authorized()
    const { id, key: text } = await key(tokens)
    const [grant] = await grantsOf(flow.user)
    const own = await flow.user.key(project.id)
    expect(await keysOf(flow.user)).toMatchObject([{ id: own.id, grantId: null }, { id, grantId: grant!.id }])
    expect(await status(text)).toBe(200)
  })

  it("ends at once with its grant, and no later consent brings it back; other keys go on", async () => {
    const own = await flow.user.key(project.id)
    const other = await newFlow(berth)
    const theirs = await key(await authorized(other), (await other.user.project()).id)
    const { id, key: text } = await key(await authorized())
    expect(await status(text)).toBe(200)
    await revokeGrants(flow.user)
    expect(await status(text)).toBe(401)
    expect((await keysOf(flow.user)).map((one) => one.id)).not.toContain(id)
    const again = await authorized()
    expect([await status(text), await status(own.key), await status(theirs.key)]).toEqual([401, 200, 200])
    expect(await status((await key(again)).key)).toBe(200)
  })

  it("ends when the grant is revoked by a tool, too", async () => {
    const { key: text } = await key(await authorized())
    for (const { id } of await grantsOf(flow.user)) await call(flow.user.token, "revoke_grant", { grantId: id })
    expect(await status(text)).toBe(401)
  })

  it("outlives the client's own tokens: signing out (RFC 7009) leaves the grant", async () => {
    const tokens = await authorized()
    const { key: text } = await key(tokens)
    const token = tokens.refresh_token ?? ""
    const revoked = await postForm(berth, "/api/v1/oauth/revoke", { client_id: flow.clientId, token })
    expect([revoked.status, await made(tokens)]).toEqual([200, undefined])
    expect(await status(text)).toBe(200)
    await revokeGrants(flow.user)
    expect(await status(text)).toBe(401)
  })

  it("ends when the tokens it was made with were stolen; what another authorization made goes on", async () => {
    const [stolen, other] = [await authorized(), await authorized()]
    const [mine, beside] = [await key(stolen), await key(other)]
    const second = await flow.refresh(stolen.refresh_token)
    await flow.refresh(second.body.refresh_token)
    expect(await status(mine.key)).toBe(200)
    expect((await flow.refresh(stolen.refresh_token)).status).toBe(400)
    expect([await status(mine.key), await status(beside.key)]).toEqual([401, 200])
  })

  it("ends when the code it came of is used a second time", async () => {
    const request = await flow.codeRequest({ resource: door(), scope: "account" })
    const { key: text } = await key((await flow.token(request)).body)
    expect((await flow.token(request)).status).toBe(400)
    expect(await status(text)).toBe(401)
  })

  it.each(["the grant is revoked", "its tokens are found stolen"])(
    "does not survive when it is made just as %s",
    async (when) => {
      for (let round = 0; round < 3; round++) {
        const tokens = await authorized()
        const second = await flow.refresh(tokens.refresh_token)
        await flow.refresh(second.body.refresh_token)
        const end = when === "the grant is revoked"
          ? revokeGrants
          : async () => expect((await flow.refresh(tokens.refresh_token)).status).toBe(400)
        const makers = Array.from({ length: 6 }, () => made(tokens))
        const [keys] = await Promise.all([Promise.all(makers), end(flow.user)])
        await authorized()
        for (const found of keys) if (found !== undefined) expect(await status(found.key)).toBe(401)
        const family = [decodeJwt(tokens.access_token)["fam"]]
        expect(await runSql(berth.databaseUrl, "SELECT name FROM api_keys WHERE family_id = $1", family)).toEqual([])
        expect(await made(tokens)).toBeUndefined()
      }
    }
  )
})
