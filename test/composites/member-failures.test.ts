import { describe, expect, it } from "vitest"
import { dataOf } from "../support/account.ts"
import { businesses } from "../support/business.ts"
import { hubKey } from "../support/composites.ts"
import { callTool } from "../support/mcp.ts"
import { runSql } from "../support/sql.ts"
import { type Answer, bySlug, useThreeMembers } from "./three-members.ts"

const three = useThreeMembers()
const { ask, berth, compositeOf, members, servers, slugOf, withClient } = three

interface Listed {
  readonly slug: string
  readonly callable: boolean
  readonly code?: string
  readonly reason?: string
}

const memberList = (token?: string, at?: string) =>
  withClient(
    async (client) => {
      const { structuredContent } = await callTool(client, "composite_members")
      return new Map((structuredContent as { members: ReadonlyArray<Listed> }).members.map((one) => [one.slug, one]))
    },
    token,
    at
  )

describe("a member that", () => {
  it("has lost the session is asked in a new one", async () => {
    await ask()
    servers.forEach(({ forget }) => forget())
    expect((await ask()).map(({ status }) => status)).toEqual(["ok", "ok", "ok"])
  })

  it("is silent times out alone, and after three times is not asked for a while", async () => {
    const patient = await berth.signUp()
    const at = await compositeOf(members, patient)
    const once = (token = patient.token, where = at) =>
      withClient(
        async (client) => {
          const started = performance.now()
          const { structuredContent } = await callTool(client, "look")
          const answers = bySlug((structuredContent as { answers: ReadonlyArray<Answer> }).answers)
          return { answers, took: performance.now() - started }
        },
        token,
        where
      )
    servers[2]!.answer = () => new Promise(() => undefined)
    const slow = await Promise.all([once(), once(), once()])
    for (const { answers, took } of slow) {
      expect(took).toBeLessThan(6_000)
      expect(answers.get(slugOf(2))).toEqual({
        slug: slugOf(2),
        status: "timeout",
        code: "member_timeout",
        message: "no answer within 3 seconds"
      })
      expect(answers.get(slugOf(0))).toMatchObject({ status: "ok" })
    }
    const rested = await once()
    expect(rested.took).toBeLessThan(2_000)
    expect(rested.answers.get(slugOf(2))).toMatchObject({
      status: "error",
      code: "member_unreachable",
      message: expect.stringMatching(/not asked for \d+ seconds/)
    })
    expect((await memberList(patient.token, at)).get(slugOf(2))).toMatchObject({
      callable: false,
      code: "member_unreachable",
      reason: expect.stringMatching(/not asked for \d+ seconds/)
    })
    expect((await memberList()).get(slugOf(2))).toMatchObject({ callable: true })
    servers[2]!.answer = (tool) => `cleo: ${tool}`
    // Of other accounts it is asked; and of this one again when it has rested.
    expect((await once(three.caller.token, three.path)).answers.get(slugOf(2))).toMatchObject({ status: "ok" })
    berth.advance(31_000)
    expect((await memberList(patient.token, at)).get(slugOf(2))).toMatchObject({ callable: true })
    expect((await once()).answers.get(slugOf(2))).toMatchObject({ status: "ok" })
  }, 30_000)

  it("dies in the middle of a call is one line of the answer", async () => {
    servers[1]!.answer = () => {
      servers[1]!.http.closeAllConnections()
      return new Promise(() => undefined)
    }
    const answers = bySlug(await ask())
    expect(answers.get(slugOf(0))).toMatchObject({ status: "ok" })
    expect(answers.get(slugOf(1))).toMatchObject({
      status: "error",
      code: "member_unreachable",
      message: expect.stringMatching(/\S/)
    })
    servers[1]!.answer = (tool) => `bert: ${tool}`
    expect(bySlug(await ask()).get(slugOf(1))).toMatchObject({ status: "ok" })
  })

  it("answers something that nests too deeply is an error alone", async () => {
    servers[1]!.answer = () => JSON.parse(`${"[".repeat(1_000)}${"]".repeat(1_000)}`) as unknown
    const answers = bySlug(await ask())
    expect(answers.get(slugOf(0))).toMatchObject({ status: "ok" })
    expect(answers.get(slugOf(1))).toEqual({
      slug: slugOf(1),
      status: "error",
      code: "member_answer_invalid",
      message: "its answer nests more than 100 levels deep"
    })
    servers[1]!.answer = (tool) => `bert: ${tool}`
  })

  it("is byoa, or kept out by its owner is listed, and not called", async () => {
    const listing = `${businesses}/${members[0]!.business.id}/listing`
    expect(dataOf(await three.owner.patch<{ data: { composable: boolean | null } }>(listing, { composable: false })))
      .toMatchObject({ composable: false })
    const elsewhere = "https://login.example"
    await three.owner.put(`/v1/servers/${members[1]!.server.id}/auth`, {
      authMode: "byoa",
      byoaConfig: {
        issuer: elsewhere,
        jwksUri: `${elsewhere}/jwks`,
        authorizationEndpoint: `${elsewhere}/authorize`,
        tokenEndpoint: `${elsewhere}/token`
      }
    })
    await withClient(async (client) => {
      const listed = await memberList()
      expect(listed.get(slugOf(0))).toMatchObject({
        callable: false,
        reason: expect.stringMatching(/owner does not let/)
      })
      expect(listed.get(slugOf(1))).toMatchObject({
        code: "member_not_callable",
        reason: expect.stringMatching(/its own authorization server/)
      })
      expect(listed.get(slugOf(2))).toMatchObject({ callable: true })
      const tools = (await client.listTools()).tools.map(({ name }) => name)
      expect(tools.sort()).toEqual([`${slugOf(2)}__change`, `${slugOf(2)}__look`, "composite_members"].sort())
      expect(await callTool(client, `${slugOf(2)}__look`)).toMatchObject({ content: [{ text: "cleo: look" }] })
    })
    await three.owner.put(`/v1/servers/${members[1]!.server.id}/auth`, { authMode: "service_managed" })
    await three.owner.patch(listing, { composable: null })
    expect(await ask()).toHaveLength(3)
  })

  it("is stopped is told to be, keeps its place in the list, and is not asked", async () => {
    const { server } = members[1]!
    const names = () => withClient(async (client) => (await client.listTools()).tools.map(({ name }) => name))
    const before = await names()
    await runSql(berth.databaseUrl, "UPDATE servers SET status = 'stopped' WHERE id = $1", [server.id])
    expect((await memberList()).get(slugOf(1))).toMatchObject({
      callable: false,
      code: "member_stopped",
      reason: "its server is stopped; its owner can start it"
    })
    expect(await names()).toEqual(before)
    const asked = servers[1]!.seen.filter(({ url }) => url !== "/health").length
    const answers = bySlug(await ask())
    expect(answers.get(slugOf(0))).toMatchObject({ status: "ok" })
    expect(answers.get(slugOf(1))).toMatchObject({ status: "error", code: "member_stopped" })
    expect(servers[1]!.seen.filter(({ url }) => url !== "/health").length).toBe(asked)
    await runSql(berth.databaseUrl, "UPDATE servers SET status = 'running' WHERE id = $1", [server.id])
    expect((await memberList()).get(slugOf(1))).toMatchObject({ callable: true })
  })

  it("is brought back by the platform is told to be, and does not rest when it runs again", async () => {
    const { server } = members[1]!
    const become = (status: string) =>
      runSql(berth.databaseUrl, "UPDATE servers SET status = $2 WHERE id = $1", [server.id, status])
    await become("provisioning")
    for (const answers of await Promise.all([ask(), ask(), ask()])) {
      expect(bySlug(answers).get(slugOf(0))).toMatchObject({ status: "ok" })
      expect(bySlug(answers).get(slugOf(1))).toEqual({
        slug: slugOf(1),
        status: "error",
        code: "member_unreachable",
        message: "its server is being brought back: ask it again soon"
      })
    }
    await become("running")
    expect(bySlug(await ask()).get(slugOf(1))).toMatchObject({ status: "ok" })
  })

  it("sleeps can be called, and is woken by the call", async () => {
    const { server } = members[1]!
    const sleep = `UPDATE servers SET status = 'stopped', asleep_at = now(), health_path = '/health' WHERE id = $1`
    await runSql(berth.databaseUrl, sleep, [server.id])
    expect((await memberList()).get(slugOf(1))).toMatchObject({ callable: true })
    expect(bySlug(await ask()).get(slugOf(1))).toMatchObject({ status: "ok" })
    const [row] = await runSql(berth.databaseUrl, "SELECT status, asleep_at FROM servers WHERE id = $1", [server.id])
    expect(row).toEqual({ status: "running", asleep_at: null })
    // One that takes longer than a member has is told to be waking, and does not rest for it.
    await runSql(berth.databaseUrl, sleep, [server.id])
    servers[1]!.answer = () => new Promise(() => undefined)
    for (const answers of await Promise.all([ask(), ask(), ask()])) {
      expect(bySlug(answers).get(slugOf(1))).toMatchObject({
        status: "timeout",
        message: expect.stringContaining("asleep and is waking, ask it again")
      })
    }
    servers[1]!.answer = (tool) => `bert: ${tool}`
    expect(bySlug(await ask()).get(slugOf(1))).toMatchObject({ status: "ok" })
  })

  it("lets in its owner alone is reached by its owner's session, if it may be composed, and by no hub key", async () => {
    const listing = `${businesses}/${members[2]!.business.id}/listing`
    await three.owner.put(`/v1/servers/${members[2]!.server.id}/auth`, { authMode: "service_managed", access: "owner" })
    const own = await compositeOf(members, three.owner)
    const reached = (token: string, at: string) =>
      withClient(
        async (client) =>
          bySlug(((await callTool(client, "look")).structuredContent as { answers: ReadonlyArray<Answer> }).answers)
            .get(slugOf(2)),
        token,
        at
      )
    expect(await reached(three.owner.token, own)).toBeUndefined()
    expect((await memberList(three.owner.token, own)).get(slugOf(2))).toMatchObject({
      code: "member_not_callable",
      reason: expect.stringContaining("does not let in everybody")
    })
    await three.owner.patch(listing, { composable: true })
    expect(await reached(three.owner.token, own)).toMatchObject({ status: "ok" })
    expect(await reached((await hubKey(berth, three.owner)).token, own)).toBeUndefined()
    // A stranger's composite does not have its tools, and says why.
    expect(await reached(three.caller.token, three.path)).toBeUndefined()
    expect((await memberList(three.caller.token, three.path)).get(slugOf(2))).toMatchObject({
      callable: false,
      code: "member_refused",
      reason: "its server does not let in this account"
    })
    expect((await memberList(three.owner.token, own)).get(slugOf(2))).toMatchObject({ callable: true })
    await three.owner.put(`/v1/servers/${members[2]!.server.id}/auth`, {
      authMode: "service_managed",
      access: "public"
    })
    await three.owner.patch(listing, { composable: null })
  })
})
