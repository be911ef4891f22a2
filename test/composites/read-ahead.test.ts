import { readAhead } from "#http/mcp/read-ahead.ts"
import { type Actor } from "#src/accounts/CurrentActor.ts"
import { HttpServerRequest } from "@effect/platform"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { type Holder } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { compose, hubKey } from "../support/composites.ts"

describe("a composite that was called with the same credential before", () => {
  const berth = useBerth()
  const nowhere = { name: "Nobody", query_definition: { city: "Nowhere" } }

  const ask = ({ token }: Holder, id: string) =>
    berth.request<{ result?: { serverInfo: { title: string } } }>("POST", `/mcp/composites/${id}`, {
      body: {
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } }
      },
      headers: { authorization: `Bearer ${token}`, accept: "application/json, text/event-stream" }
    })
  const statuses = async (holder: Holder, id: string) => [
    (await ask(holder, id)).status,
    (await ask(holder, id)).status
  ]

  it("is answered as it is now", async () => {
    const owner = await berth.signUp()
    const { id } = await compose(owner, nowhere)
    expect(await statuses(owner, id)).toEqual([200, 200])
    await owner.patch(`/v1/hub/composites/${id}`, { name: "Renamed" })
    expect((await ask(owner, id)).body.result?.serverInfo.title).toBe("Renamed")
    await owner.delete(`/v1/hub/composites/${id}`)
    expect(await statuses(owner, id)).toEqual([404, 404])
  })

  it("is not there for others once it is private, however they came in", async () => {
    const owner = await berth.signUp("developer")
    const other = await berth.signUp("developer")
    const holders = [other, await hubKey(berth, other)]
    const { id } = await compose(owner, { ...nowhere, visibility: "public" })
    for (const holder of holders) expect(await statuses(holder, id)).toEqual([200, 200])
    await owner.patch(`/v1/hub/composites/${id}`, { visibility: "private" })
    for (const holder of holders) expect(await statuses(holder, id)).toEqual([404, 404])
    expect(await statuses(owner, id)).toEqual([200, 200])
  })

  it("is not read by who has logged out", async () => {
    const owner = await berth.signUp()
    const { id } = await compose(owner, nowhere)
    expect(await statuses(owner, id)).toEqual([200, 200])
    await owner.post("/v1/auth/logout", {})
    expect(await statuses(owner, id)).toEqual([401, 401])
  })
})

describe("what is begun ahead", () => {
  const id = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
  const requestOf = (token: string, path = `/mcp/composites/${id}?a=/b`) =>
    HttpServerRequest.fromWeb(
      new Request(`http://berth.test${path}`, { method: "POST", headers: { authorization: `Bearer ${token}` } })
    )
  const start = () => {
    const begun: Array<string> = []
    const readings = readAhead((id, accountId) =>
      Effect.sync(() => {
        begun.push(`${id} ${accountId}`)
        return begun.length
      })
    )
    const send = (request = requestOf("one")) => {
      Effect.runSync(readings.begin(request))
      return (accountId: string) => readings.of(request, { accountId } as Actor)
    }
    return { begun, send }
  }

  it("is begun once its credential was let in, for the account that it was", () => {
    const { begun, send } = start()
    expect(send()("account-1")).toBeUndefined()
    expect(send()("account-1")).toBe(1)
    expect(send(requestOf("two"))("account-2")).toBeUndefined()
    expect(begun).toEqual([`${id} account-1`])
  })

  it("is begun once and no more for who is not let in after it, as over a rate", () => {
    const { begun, send } = start()
    send()("account-1")
    for (let i = 0; i < 100; i++) send()
    expect(begun).toHaveLength(1)
  })

  it("is nothing where the path names no composite", () => {
    const { begun, send } = start()
    send()("account-1")
    expect(send(requestOf("one", "/mcp/composites/%2e%2e"))("account-1")).toBeUndefined()
    expect(begun).toEqual([])
  })
})
