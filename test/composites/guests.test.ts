import { type CallToolResult } from "@modelcontextprotocol/sdk/types.js"
import { describe, expect, it } from "vitest"
import { type Account, type Holder } from "../support/account.ts"
import { callTool } from "../support/mcp.ts"
import { runSql } from "../support/sql.ts"
import { patientMembers, useThreeMembers } from "./three-members.ts"

const three = useThreeMembers(patientMembers)
const { berth, compositeOf, members, servers, slugOf, withClient } = three

/** What so many calls of one member's tool through a composite gave. */
const callsBy = async (holder: Holder, at: string, count: number, i = 0): Promise<ReadonlyArray<CallToolResult>> =>
  withClient(
    async (client) => {
      const results: Array<CallToolResult> = []
      while (results.length < count) results.push(await callTool(client, `${slugOf(i)}__look`))
      return results
    },
    holder.token,
    at
  )
const answered = (results: ReadonlyArray<CallToolResult>) => results.filter(({ isError }) => isError !== true).length
const lastOf = (results: ReadonlyArray<CallToolResult>) => JSON.stringify(results.at(-1))
const alone = (i: number, holder: Account) => compositeOf(members.slice(i, i + 1), holder)

describe("a caller who is not the owner's account has at a server, through composites too", () => {
  it("60 requests a minute of its account, whatever its credentials, and others have their own", async () => {
    const { caller, key, owner } = three
    const at = await alone(0, caller)
    const before = servers[0]!.seen.length
    const first = await callsBy(caller, at, 40)
    expect(answered(first)).toBe(40)
    const results = await callsBy(key, at, 40)
    expect(answered(results)).toBeLessThan(20)
    expect(servers[0]!.seen.length - before, "those that open the session count too").toBe(60)
    expect(lastOf(results)).toMatch(/status 429.*The server takes 60 requests a minute from one account; try again in/)
    const token = servers[0]!.seen.at(-1)!.headers.authorization!.replace("Bearer ", "")
    const straight = await berth.request("POST", `/s/${members[0]!.server.slug}/mcp`, {
      token,
      headers: { accept: "application/json, text/event-stream" },
      body: { jsonrpc: "2.0", id: 1, method: "ping" }
    })
    expect([straight.status, straight.body]).toMatchObject([429, {
      error: { code: "RATE_LIMITED", details: { limit: "guestRequestsPerMinute", allowed: 60 } }
    }])
    const another = await berth.signUp("enterprise")
    expect(answered(await callsBy(another, await alone(0, another), 5))).toBe(5)
    expect(answered(await callsBy(owner, await alone(0, owner), 70)), "the owner's own are outside").toBe(70)
  }, 50_000)

  it("a tenth of the owner's month", async () => {
    const { owner } = three
    const guest = await berth.signUp("enterprise")
    const at = await alone(1, guest)
    await runSql(berth.databaseUrl, "UPDATE users SET plan = 'free' WHERE id = $1", [owner.id])
    await owner.patch(`/v1/servers/${members[1]!.server.id}`, { guestRequestsPerMinute: null })
    expect(answered(await callsBy(guest, at, 1, 1))).toBe(1)
    await runSql(
      berth.databaseUrl,
      "UPDATE guest_requests SET period_count = 980 WHERE server_id = $1 AND guest = $2",
      [members[1]!.server.id, guest.id]
    )
    // The gateway learns of the changes within a second.
    await expect.poll(async () => lastOf(await callsBy(guest, at, 10, 1)), { timeout: 10_000 })
      .toMatch(/status 429.*The server takes 1000 requests a month from one account, 10 % of its/)
    expect(answered(await callsBy(owner, await alone(1, owner), 5, 1)), "the owner's own are outside").toBe(5)
  }, 50_000)
})
