import { createServer } from "node:http"
import { type AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { compose } from "../support/composites.ts"
import { type LiveMember, LiveMembers } from "../support/live-members.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"

/** A lone surrogate in a text and in a key, and a key that is no plain one in JavaScript. */
const halves = JSON.parse(
  `{"text":"a\\ud800b","k\\ud800":1,"__proto__":{"polluted":true},"in":[{"__proto__":7}]}`
) as object

interface Asked {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly name?: string; readonly uri?: string }
}

/** What a call of the tool is answered with: a result, or all of an answer. */
const results: Readonly<Record<string, unknown>> = {
  right: { content: [{ type: "text", text: "fine" }] },
  json: { content: [{ type: "text", text: `{"items":[{"id":"i1","name":"Pizza","price":"$13.50"}]}` }] },
  blocks: {
    content: [
      { type: "text", text: `{"name":"Soup","price":"$6.50"}` },
      { type: "text", text: `{"name":"Stew"}` },
      { type: "image", data: "aGVsbG8=", mimeType: "image/png" }
    ]
  },
  denies: { isError: true, content: [{ type: "text", text: `{"error":{"message":"The oven is cold"}}` }] },
  none: null,
  wrong: { content: 7 },
  halves: { content: [{ type: "text", text: "a\ud800b" }], structuredContent: halves, _meta: halves },
  input: { resultType: "input_required", inputRequests: [] }
}
/** An event stream of more than anybody reads, in few events. */
const long = `data: ${JSON.stringify({ jsonrpc: "2.0", method: "x", params: { text: "x".repeat(300_000) } })}\n\n`
const whole: Readonly<Record<string, readonly [number, string, string]>> = {
  html: [200, "text/html", "<p>hello"],
  broken: [200, "application/json", "{"],
  large: [200, "application/json", JSON.stringify({ result: "x".repeat(2 * 1024 * 1024) })],
  refuses: [403, "application/json", "{}"],
  bad: [
    400,
    "application/json",
    `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"invalid session of yoga"}}`
  ],
  forgets: [400, "application/json", `{"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}`],
  forgotten: [
    400,
    "application/json",
    `{"jsonrpc":"2.0","error":{"code":-32600,"message":"Session not found"},"id":null}`
  ],
  expired: [400, "application/json", `{"error":{"code":-32000,"message":"Session expired; please initialize"}}`],
  forgot: [400, "text/plain", "No transport found for sessionId"],
  gone: [404, "text/plain", "no such session"],
  crashes: [500, "application/json", "{}"],
  longStream: [200, "text/event-stream", long.repeat(8)]
}
/** What breaks off: its type, and whether it says how long it is. */
const cut: Readonly<Record<string, readonly [string, boolean]>> = {
  cutJson: ["application/json", true],
  cutStream: ["text/event-stream", true],
  cutChunks: ["text/event-stream", false]
}
const codes: Readonly<Record<string, string>> = {
  none: "member_answer_invalid",
  wrong: "member_answer_invalid",
  html: "member_answer_invalid",
  broken: "member_answer_invalid",
  large: "member_answer_invalid",
  input: "member_needs_input",
  refuses: "member_refused",
  bad: "member_refused",
  error: "member_error",
  cutJson: "member_unreachable",
  cutStream: "member_unreachable",
  cutChunks: "member_unreachable",
  longStream: "member_answer_invalid",
  crashes: "member_unreachable"
}

/** Names of what was called. */
const called: Array<string> = []

const answerTo = ({ id, method, params }: Asked): readonly [number, string, string] => {
  const name = params?.name ?? ""
  if (method === "tools/call") called.push(name)
  const given = whole[name]
  if (given !== undefined) return given
  const reply = (body: object): readonly [number, string, string] => [
    200,
    "application/json",
    JSON.stringify({ jsonrpc: "2.0", id, ...body })
  ]
  if (id === undefined) return [202, "application/json", ""]
  if (name === "error") return reply({ error: { code: -32603, message: "the oven is cold" } })
  if (method === "tools/call") return reply({ result: results[name] })
  const content = { type: "text", text: "a\ud800b", _meta: halves }
  if (name === "halved") return reply({ result: { messages: [{ role: "user", content }] } })
  if (params?.uri === "menu://halved") return reply({ result: { contents: [{ uri: params.uri, ...content }] } })
  if (method === "prompts/get" || method === "resources/read") return reply({ result: { messages: 7 } })
  return reply({
    result: method === "initialize"
      ? {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {}, prompts: {}, resources: {} },
        serverInfo: { name: "odd", version: "1" }
      }
      : {
        tools: [...Object.keys(results), ...Object.keys(whole), ...Object.keys(cut), "error"].map((tool) => ({
          name: tool,
          inputSchema: { type: "object" }
        })),
        prompts: [{ name: "greet" }, { name: "halved" }],
        resources: [{ uri: "menu://today", name: "Menu" }, { uri: "menu://halved", name: "Half a menu" }]
      }
  })
}

const live = new LiveMembers()
const berth = useBerth({ machines: live.machines })

describe("a member's answer", () => {
  const http = createServer((req, res) =>
    void text(req).then((body) => {
      const asked = (body === "" ? { method: "" } : JSON.parse(body)) as Asked
      const broken = cut[asked.params?.name ?? ""]
      if (broken !== undefined) {
        const [type, hasLength] = broken
        res.writeHead(200, { "content-type": type, ...(hasLength ? { "content-length": 1_000 } : {}) })
        return void res.write("data: {\"jsonrpc\":", () => res.destroy())
      }
      const [status, type, answer] = req.method === "POST" ? answerTo(asked) : [405, "text/plain", ""] as const
      res.writeHead(status, { "content-type": type }).end(answer)
    })
  )
  let owner: Account
  let members: ReadonlyArray<LiveMember> = []
  beforeAll(async () => {
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve))
    owner = await berth.signUp("enterprise")
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
    for (const slug of ["odd", "even"]) members = [...members, await live.add(berth, owner, slug, url)]
  })
  afterAll(() => void http.close())

  const connect = async (list: ReadonlyArray<LiveMember>) => {
    const { id } = await compose(owner, {
      query_definition: { listing_ids: list.map(({ business }) => business.listingId) }
    })
    return connectMcp(berth.url, { token: owner.token, path: `/mcp/composites/${id}` })
  }

  it.each(Object.entries(codes))(
    "%s: that is none is told as %s, in words, by a merged tool and by one of its own",
    async (tool, code) => {
      const [alone, both] = [await connect(members.slice(0, 1)), await connect(members)]
      const one = await callTool(alone, `${members[0]!.slug}__${tool}`)
      expect(one.isError).toBe(true)
      const { error } = textOf(one) as { error: { code: string; message: string } }
      expect(error.code).toBe(code)
      const merged = await callTool(both, tool)
      expect(merged.structuredContent).toMatchObject({
        answers: [{ status: "error", code, message: expect.any(String) }, { status: "error", code }]
      })
      if (tool === "large" || tool === "longStream") expect(error.message).toContain("its answer is larger than 2 MiB")
      // No list of issues of a validator, and no JSON.
      for (const said of [error.message, JSON.stringify(merged.content)]) {
        expect(said).not.toMatch(/invalid_type|invalid_union|"path"|ZodError|JSON at position/)
      }
      expect(await callTool(both, "right")).toMatchObject({
        structuredContent: { answers: [{ status: "ok", result: "fine" }, { status: "ok" }] }
      })
      await alone.close()
      await both.close()
    }
  )

  it.each([
    ["json", "ok", "Pizza: $13.50"],
    ["blocks", "ok", "Soup: $6.50; Stew; image: image/png"],
    ["denies", "error", "message: The oven is cold"]
  ])("%s: a table has words where the member wrote JSON or sent bytes", async (tool, status, words) => {
    const both = await connect(members)
    const { content } = await callTool(both, tool)
    const rows = members.map(({ slug }) => `| ${slug} | ${status} | ${words} |`)
    expect((content[0] as { text: string }).text.split("\n").slice(2).sort()).toEqual(rows.sort())
    await both.close()
  })

  it.each([["refuses", 1], ["bad", 1], ["forgets", 2], ["forgotten", 2], ["expired", 2], ["forgot", 2], ["gone", 2]])(
    "%s: a call of a kept session is made again only where the answer says that the session is lost",
    async (tool, times) => {
      const alone = await connect(members.slice(0, 1))
      const name = (one: string) => `${members[0]!.slug}__${one}`
      await callTool(alone, name("right"))
      called.length = 0
      expect(await callTool(alone, name(tool))).toMatchObject({ isError: true })
      expect(called).toEqual(Array.from({ length: times }, () => tool))
      await alone.close()
    }
  )

  it("is text throughout, whatever it is an answer to: strict parsers read it all, and no key is a prototype", async () => {
    const [alone, both] = [await connect(members.slice(0, 1)), await connect(members)]
    const [{ slug }] = members as [LiveMember]
    const told = [
      await callTool(alone, `${slug}__halves`),
      await callTool(both, "halves"),
      await alone.getPrompt({ name: `${slug}__halved` }),
      await alone.readResource({ uri: "menu://halved" })
    ]
    expect(told[0]).toMatchObject({ structuredContent: { text: "a\ufffdb", "k\ufffd": 1, in: [{}] } })
    for (const one of told) {
      expect(JSON.stringify(one)).toContain("a\ufffdb")
      expect(JSON.stringify(one)).not.toMatch(/\\ud[89a-f]|__proto__|polluted/i)
    }
    await alone.close()
    await both.close()
  })

  it("that is none is a JSON-RPC error with a code for prompts and resources", async () => {
    const client = await connect(members)
    const code = {
      data: { code: "member_answer_invalid" },
      message: expect.stringContaining("is not what MCP asks for")
    }
    await expect(client.getPrompt({ name: `${members[0]!.slug}__greet` })).rejects.toMatchObject(code)
    await expect(client.readResource({ uri: "menu://today" })).rejects.toMatchObject(code)
    await client.close()
  })
})
