import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { compose } from "../support/composites.ts"
import { type LiveMember, LiveMembers } from "../support/live-members.ts"
import { startMember, type TestMember } from "../support/mcp-member.ts"
import { callTool, connectMcp } from "../support/mcp.ts"
import { runSql } from "../support/sql.ts"
import { type Answer, bySlug, look, patientMembers } from "./three-members.ts"

const live = new LiveMembers()
const berth = useBerth({ machines: live.machines, variables: patientMembers })

interface Answers {
  readonly answers: ReadonlyArray<Answer>
  readonly notAsked?: ReadonlyArray<string>
}

describe("a merged tool of twelve businesses", () => {
  let owner: Account
  let server: TestMember
  let path = ""
  /** Best ranked first. */
  let ranked: ReadonlyArray<LiveMember> = []

  beforeAll(async () => {
    owner = await berth.signUp("enterprise")
    server = await startMember("all", [look])
    const members: Array<LiveMember> = []
    for (let i = 0; i < 12; i++) members.push(await live.add(berth, owner, `many-${i}`, server.url))
    const { id } = await compose(owner, {
      query_definition: { listing_ids: members.map(({ business }) => business.listingId) }
    })
    path = `/mcp/composites/${id}`
    const listed = await withClient(async (client) => (await callTool(client, "composite_members")).structuredContent)
    ranked = (listed as { members: ReadonlyArray<{ slug: string }> }).members.map(({ slug }) =>
      members.find((member) => member.slug === slug)!
    )
  }, 60_000)
  afterAll(() => server.stop())

  const withClient = async <A>(run: (client: Awaited<ReturnType<typeof connectMcp>>) => Promise<A>) => {
    const client = await connectMcp(berth.url, { token: owner.token, path })
    try {
      return await run(client)
    } finally {
      await client.close()
    }
  }
  const ask = (args = {}) =>
    withClient(async (client) => {
      const { content, structuredContent } = await callTool(client, "look", args)
      return { ...(structuredContent as unknown as Answers), table: (content[0] as { text: string }).text }
    })
  const slugs = (from: number, to?: number) => ranked.slice(from, to).map(({ slug }) => slug)
  const turn = (members: ReadonlyArray<LiveMember>, status: string) =>
    Promise.all(
      members.map((member) =>
        runSql(berth.databaseUrl, "UPDATE servers SET status = $2 WHERE id = $1", [member.server.id, status])
      )
    )

  it("says that it asks ten, and whom it asks when nobody is named", async () => {
    const tool = await withClient(async (client) =>
      (await client.listTools()).tools.find(({ name }) => name === "look")
    )
    expect(tool).toMatchObject({
      description: expect.stringContaining("Asks up to 10 of its 12 businesses in one call"),
      inputSchema: {
        properties: {
          businesses: {
            description: expect.stringMatching(/left out: the 10 best ranked that can be called.*notAsked/)
          }
        }
      },
      outputSchema: { properties: { notAsked: { type: "array" } } }
    })
    // describe_tools is not in this list.
    expect(JSON.stringify(tool)).not.toContain("describe_tools")
  })

  it("asks the ten best ranked, and names those that it did not ask", async () => {
    const { answers, notAsked, table } = await ask()
    expect(answers.map(({ slug, status }) => [slug, status])).toEqual(slugs(0, 10).map((slug) => [slug, "ok"]))
    expect(notAsked).toEqual(slugs(10))
    expect(table).toContain(`Not asked, since one call asks 10 at most: ${slugs(10).join(", ")}.`)
    expect(await ask({ businesses: slugs(10) })).not.toHaveProperty("notAsked")
  })

  it.each([1, 2, 3])("asks ten that run when %i are stopped, and names each that is", async (count) => {
    const stopped = ranked.slice(4, 4 + count)
    await turn(stopped, "stopped")
    const { answers, notAsked = [], table } = await ask()
    expect([...answers.map(({ slug }) => slug), ...notAsked].sort()).toEqual(slugs(0).sort())
    expect(answers.filter(({ status }) => status === "ok")).toHaveLength(Math.min(10, 12 - count))
    for (const { slug } of stopped) {
      expect(bySlug(answers).get(slug)).toMatchObject({ status: "error", code: "member_stopped" })
      expect(table).toContain(slug)
    }
    expect(notAsked).toEqual(slugs(10 + count))
    await turn(stopped, "running")
  })
})
