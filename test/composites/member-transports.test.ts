import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { compose } from "../support/composites.ts"
import { type LiveMember, LiveMembers } from "../support/live-members.ts"
import { startMember } from "../support/mcp-member.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"
import { startSseMember, startStatelessMember } from "../support/other-members.ts"
import { type Answer, bySlug, look } from "./three-members.ts"

const live = new LiveMembers()
const berth = useBerth({ machines: live.machines })

let caller: Account
let path = ""
let sse: Awaited<ReturnType<typeof startSseMember>>
let stateless: Awaited<ReturnType<typeof startStatelessMember>>
let stop = () => {}
const members: Record<string, LiveMember> = {}

beforeAll(async () => {
  const owner = await berth.signUp("enterprise")
  caller = await berth.signUp("enterprise")
  sse = await startSseMember("sse")
  stateless = await startStatelessMember("stateless")
  const today = await startMember("today", [look])
  stop = () => [sse, stateless, today].forEach((one) => one.stop())
  for (const [name, { url }] of Object.entries({ sse, stateless, today })) {
    members[name] = await live.add(berth, owner, `speaks-${name}`, url)
  }
  const { id } = await compose(caller, {
    name: "All",
    query_definition: { listing_ids: Object.values(members).map(({ business }) => business.listingId) }
  })
  path = `/mcp/composites/${id}`
})
afterAll(() => stop())

/** Calls the tool of the member, which is its own: each takes other arguments or says it in its own words. */
const ask = async (name: "sse" | "stateless" | "today") => {
  const client = await connectMcp(berth.url, { token: caller.token, path })
  try {
    const { tools } = await client.listTools()
    const { slug } = members[name]!
    const own = tools.find((tool) => tool.name === `${slug}__look`)
    if (own !== undefined) {
      const result = await callTool(client, own.name)
      return result.isError === true
        ? { slug, status: "error", message: (textOf(result) as { error: { message: string } }).error.message }
        : { slug, status: "ok", result: result.content[0]?.type === "text" ? result.content[0].text : undefined }
    }
    const { structuredContent } = await callTool(client, "look", { businesses: [slug] })
    return bySlug((structuredContent as { answers: ReadonlyArray<Answer> }).answers).get(slug)
  } finally {
    await client.close()
  }
}

const until = (name: "sse" | "stateless") => expect.poll(() => ask(name), { timeout: 10_000 })

describe("a member that speaks HTTP+SSE alone", () => {
  it("is called, again in the same session", async () => {
    expect(await ask("sse")).toMatchObject({ status: "ok", result: "sse" })
    const streams = () => sse.seen.filter((one) => one === "GET /sse").length
    const before = streams()
    expect(await ask("sse")).toMatchObject({ status: "ok", result: "sse" })
    expect(streams()).toBe(before)
  })

  it("and has lost the session while its stream stays is asked in a new one", async () => {
    await ask("sse")
    sse.forget()
    expect(await ask("sse")).toMatchObject({ status: "ok", result: "sse" })
  })

  it("and has restarted is asked in a new session", async () => {
    await ask("sse")
    sse.forget()
    sse.cut()
    await until("sse").toMatchObject({ status: "ok", result: "sse" })
    expect(await ask("sse")).toMatchObject({ status: "ok" })
  })

  it("and whose stream is cut while it holds a call fails at once, and the next call is answered", async () => {
    let calls = 0
    sse.answer = () => {
      calls++
      sse.forget()
      setTimeout(sse.cut, 50)
      return new Promise<string>(() => undefined)
    }
    const began = performance.now()
    expect(await ask("sse")).toMatchObject({ status: "error", message: expect.stringMatching(/\S/) })
    expect(performance.now() - began).toBeLessThan(2_500)
    // What may have been done is not done twice.
    expect(calls).toBe(1)
    sse.answer = () => "sse"
    expect(await ask("sse")).toMatchObject({ status: "ok" })
  })
})

describe("a member that speaks revision 2026-07-28 alone", () => {
  it("is called without a session", async () => {
    expect(await ask("stateless")).toMatchObject({ status: "ok", result: "stateless" })
    expect(new Set(stateless.seen)).toEqual(new Set(["POST /mcp"]))
  })

  it("and whose stream is cut while it holds a call fails at once, and the next call is answered", async () => {
    let calls = 0
    stateless.answer = () => {
      calls++
      setTimeout(stateless.cut, 50)
      return new Promise<string>(() => undefined)
    }
    const began = performance.now()
    expect(await ask("stateless")).toMatchObject({
      status: "error",
      message: expect.stringContaining("outcome is unknown")
    })
    expect(performance.now() - began).toBeLessThan(2_500)
    expect(calls).toBe(1)
    stateless.answer = () => "stateless"
    expect(await ask("stateless")).toMatchObject({ status: "ok" })
  })

  it("and refuses a call is told in its own words, and not taken for broken", async () => {
    stateless.refusal = "no soup today"
    for (let i = 0; i < 4; i++) {
      expect(await ask("stateless")).toMatchObject({
        status: "error",
        message: expect.stringContaining("no soup today")
      })
    }
    stateless.refusal = undefined
    expect(await ask("stateless")).toMatchObject({ status: "ok" })
  })
})

it.each(["sse", "stateless"] as const)(
  "the member by %s that says in a call that its tools changed is asked for them",
  async (name) => {
    const member = { sse, stateless }[name]
    const [added, { slug }] = [`added-by-${name}`, members[name]!]
    member.added = added
    await ask(name)
    const client = await connectMcp(berth.url, { token: caller.token, path })
    try {
      const names = async () => (await client.listTools()).tools.map((tool) => tool.name)
      await expect.poll(names, { timeout: 20_000, interval: 500 }).toContain(`${slug}__${added}`)
    } finally {
      await client.close()
      member.added = undefined
    }
  },
  30_000
)

it("all three answer beside each other", async () => {
  for (const name of ["sse", "stateless", "today"] as const) expect(await ask(name)).toMatchObject({ status: "ok" })
})
