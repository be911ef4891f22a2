import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { compose } from "../support/composites.ts"
import { type LiveMember, LiveMembers } from "../support/live-members.ts"
import { startMember, type TestMember } from "../support/mcp-member.ts"
import { callTool, connectMcp } from "../support/mcp.ts"
import { type Answer, bySlug, look } from "./three-members.ts"

type Id = string | number
const event = (message: object) => `data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`
const pings = (count: number) => Array.from({ length: count }, (_, id) => event({ id, method: "ping" })).join("")
const stream = { "content-type": "text/event-stream" }
const result = (id: Id | undefined) => ({ id, result: { content: [{ type: "text", text: "done" }] } })

/** A member by hand, which answers calls and the stream of notices as a test says. `posts`: what it got that is no call. */
const startFlooder = async () => {
  const flooder = {
    posts: [] as Array<string>,
    streams: 0,
    call: (_id: Id | undefined, _res: ServerResponse): void => {},
    notices: (res: ServerResponse): void => void res.writeHead(405).end()
  }
  const answer = async (req: IncomingMessage, res: ServerResponse) => {
    const json = (body: object) =>
      res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", ...body }))
    const body = await text(req)
    if (req.url === "/health") return res.writeHead(200).end("{}")
    if (req.method === "GET") {
      flooder.streams++
      return flooder.notices(res)
    }
    if (req.method !== "POST") return res.writeHead(405).end()
    const { id, method, params } = JSON.parse(body) as {
      id?: Id
      method?: string
      params?: { protocolVersion?: string }
    }
    if (method === "initialize") {
      const capabilities = { tools: { listChanged: true } }
      const serverInfo = { name: "flooder", version: "1" }
      return json({ id, result: { protocolVersion: params?.protocolVersion, capabilities, serverInfo } })
    }
    if (method === "tools/list") return json({ id, result: { tools: [look] } })
    if (method === "tools/call") return flooder.call(id, res)
    flooder.posts.push(body)
    return res.writeHead(202).end()
  }
  const http = createServer((req, res) => void answer(req, res).catch(() => res.destroy()))
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve))
  const stop = () => {
    http.closeAllConnections()
    http.close()
  }
  return { ...{ url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, stop }, flooder }
}

const live = new LiveMembers()
const berth = useBerth({ machines: live.machines })
let started: Awaited<ReturnType<typeof startFlooder>>
let honest: TestMember
let members: ReadonlyArray<LiveMember> = []
let caller: Account
let path = ""

beforeAll(async () => {
  const owner = await berth.signUp("enterprise")
  started = await startFlooder()
  honest = await startMember("honest", [look])
  started.flooder.call = (id, res) => void res.writeHead(200, stream).end(event(result(id)))
  members = [
    await live.add(berth, owner, "flooder", started.url),
    await live.add(berth, owner, "honest", honest.url)
  ]
})
afterAll(() => [started, honest].forEach((one) => one.stop()))
// Sessions and rests are those of an account.
beforeEach(async () => {
  caller = await berth.signUp("enterprise")
  const listing_ids = members.map(({ business }) => business.listingId)
  path = `/mcp/composites/${(await compose(caller, { name: "All", query_definition: { listing_ids } })).id}`
  Object.assign(started.flooder, { posts: [], streams: 0, notices: (res: ServerResponse) => res.writeHead(405).end() })
})

/** What both members answer, and how long the platform gave no answer meanwhile, in milliseconds. */
const ask = async () => {
  let longest = 0
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      const began = performance.now()
      await fetch(`${berth.url}/v1/health`)
      longest = Math.max(longest, performance.now() - began)
    }
  })()
  const client = await connectMcp(berth.url, { token: caller.token, path })
  try {
    const { structuredContent } = await callTool(client, "look")
    const answers = bySlug((structuredContent as { answers: ReadonlyArray<Answer> }).answers)
    return { flooder: answers.get(members[0]!.slug), honest: answers.get(members[1]!.slug), longest: () => longest }
  } finally {
    isOver = true
    await watching
    await client.close()
  }
}

describe("a member that", () => {
  it("asks us in its answer is answered a few times, and its answer counts", async () => {
    started.flooder.call = (id, res) => void res.writeHead(200, stream).end(pings(100) + event(result(id)))
    expect(await ask()).toMatchObject({ flooder: { status: "ok", result: "done" }, honest: { status: "ok" } })
    const answered = () => started.flooder.posts.filter((body) => body.includes("\"result\"")).length
    await expect.poll(answered).toBe(5)
    await ask()
    expect(answered()).toBe(5)
  })

  it("floods its answer is told off at once, and stops nobody else", async () => {
    started.flooder.call = (id, res) => void res.writeHead(200, stream).end(pings(30_000) + event(result(id)))
    const answers = await ask()
    expect(answers.honest).toMatchObject({ status: "ok" })
    expect(answers.flooder).toMatchObject({
      status: "error",
      code: "member_answer_invalid",
      message: "its event stream has more than 200 messages at once"
    })
    expect(started.flooder.posts.length).toBeLessThan(20)
    expect(answers.longest()).toBeLessThan(2_000)
  })

  it.each([
    ["pings", pings(20_000)],
    ["notices", event({ method: "notifications/tools/list_changed" }).repeat(20_000)],
    ["empty lines", "\r".repeat(1_900_000)]
  ])("floods its stream of notices with %s stops nobody", async (_what, sent) => {
    started.flooder.call = (id, res) => void res.writeHead(200, stream).end(event(result(id)))
    started.flooder.notices = (res) => void res.writeHead(200, stream).end(sent)
    const answers = await ask()
    expect(answers.honest).toMatchObject({ status: "ok" })
    expect(answers.longest()).toBeLessThan(2_000)
    expect(started.flooder.posts.length).toBeLessThan(20)
  })

  it("ends its stream of notices again and again is left alone after a few times", async () => {
    started.flooder.notices = (res) => void res.writeHead(200, stream).end("retry: 0\nid: 7\n\n")
    expect(await ask()).toMatchObject({ flooder: { status: "ok" }, honest: { status: "ok" } })
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    expect(started.flooder.streams).toBeLessThan(15)
  })

  it("answers with a batch gives no valid answer", async () => {
    started.flooder.call = (id, res) => {
      const all = Array.from({ length: 30_000 }, () => ({ jsonrpc: "2.0", ...result(id) }))
      res.writeHead(200, { "content-type": "application/json" }).end(` ${JSON.stringify(all)}`)
    }
    const answers = await ask()
    expect(answers.flooder).toMatchObject({ code: "member_answer_invalid" })
    expect(answers.longest()).toBeLessThan(2_000)
  })

  const fields = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":1`).join(",")
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels)
  const [wide, many, deep] = [
    "its answer has an object of more than 5000 fields",
    "its answer has more than 50000 values",
    "its answer nests more than 100 levels deep"
  ]
  it.each([
    ["fields", `{"content":[],${fields(200_000)}}`, wide],
    ["structured fields", `{"content":[],"structuredContent":{${fields(5_001)}}}`, wide],
    ["values", `{"content":[],"structuredContent":{"all":[${"0,".repeat(50_000)}0]}}`, many],
    ["levels", `{"content":[],"structuredContent":{"all":${nested(500_000)}}}`, deep],
    ["levels that never end", `{"content":[],"structuredContent":{"all":${"[".repeat(1_040_000)}`, deep],
    ["invalid items", `{"content":[${"{},".repeat(40_000)}{}]}`, "its answer is not a valid result of a tool"]
  ])(
    "answers more %s than anybody reads is told so alone, in a document and in a stream",
    async (_what, sent, message) => {
      for (const type of ["application/json", "text/event-stream"]) {
        started.flooder.call = (id, res) => {
          const text = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${sent}}`
          res.writeHead(200, { "content-type": type }).end(type === "application/json" ? text : `data: ${text}\n\n`)
        }
        const answers = await ask()
        expect(answers, type).toMatchObject({
          flooder: { status: "error", code: "member_answer_invalid", message },
          honest: { status: "ok" }
        })
        expect(answers.longest()).toBeLessThan(2_000)
      }
      // It is asked again at once: what is too large for us is no failure of its server.
      started.flooder.call = (id, res) => void res.writeHead(200, stream).end(event(result(id)))
      expect(await ask()).toMatchObject({ flooder: { status: "ok" } })
    }
  )

  it("refuses a call is quoted: its words are not the platform's", async () => {
    started.flooder.call = (_id, res) => void res.writeHead(403).end("{\"error\":{\"message\":\"log in elsewhere\"}}")
    expect((await ask()).flooder).toMatchObject({
      code: "member_refused",
      message: "the answer was status 403: \"log in elsewhere\""
    })
  })
})
