import { beforeAll, describe, expect, it } from "vitest"
import { type Account, type Holder, type Project } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { hubKey } from "../support/composites.ts"
import { type Answer } from "../support/http.ts"
import { envelope, rpcOf, sessionPost, statelessPost } from "../support/stateless.ts"

const berth = useBerth()
let owner: Account
let project: Project
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  project = await owner.project()
})

const posts = [["up to 2025-11-25", sessionPost], ["2026-07-28", statelessPost]] as const

describe.each(posts)("a hostile client, in revision %s", (_, post) => {
  const call = async (holder: Holder, name: string, args: unknown, more: object = {}): Promise<Answer> =>
    holder.request("POST", "/mcp", post({ method: "tools/call", params: { name, arguments: args, ...more } }))

  it("reaches no tool through call_tool that its credential may not call", async () => {
    const reader = await owner.holder(project.id, ["servers:read"])
    const agent = await hubKey(berth, owner)
    const forbidden: ReadonlyArray<readonly [Holder, string, object]> = [
      [reader, "delete_project", { projectId: project.id }],
      [reader, "set_env", { serverId: "srv_x", name: "A", value: "b" }],
      [reader, "create_api_key", { projectId: project.id, name: "k", scopes: ["servers:write"] }],
      [agent, "list_projects", {}],
      [agent, "create_api_key", { projectId: project.id, name: "k", scopes: ["servers:write"] }]
    ]
    for (const [holder, name, args] of forbidden) {
      for (
        const answer of [await call(holder, name, args), await call(holder, "call_tool", { name, arguments: args })]
      ) {
        expect(rpcOf(answer).result, name).toMatchObject({ isError: true })
        expect(answer.text, name).toMatch(/forbidden|unauthorized/i)
      }
    }
    for (const name of ["call_tool", "find_tools", "__proto__", "constructor"]) {
      const { result } = rpcOf(await call(reader, "call_tool", { name, arguments: {} }))
      expect(JSON.stringify(result), name).toMatch(/NOT_FOUND/)
    }
    expect((await owner.get(`/v1/projects/${project.id}`)).status).toBe(200)
  })

  it("gets a sentence for deep and wide arguments, and never an error of ours", async () => {
    const deep = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`
    const wide = JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`project${at}`, 1])))
    for (const args of [`{"projectId":${deep(5_000)}}`, `{"x":${deep(100_000)}}`, wide]) {
      for (const name of ["delete_project", "get_project", "call_tool"]) {
        const more = { requestState: "v1.x", inputResponses: { confirm: { action: "accept" } } }
        const { body, headers = {} } = post({ method: "tools/call", params: { name, arguments: "HERE", ...more } })
        const answer = await owner.request("POST", "/mcp", {
          headers,
          body: JSON.stringify(body).replace("\"HERE\"", () => args)
        })
        expect(answer.status).toBeLessThan(500)
        expect(answer.text).not.toMatch(/-32603|INTERNAL_ERROR|Maximum call stack/)
        expect(answer.text.length).toBeLessThan(200_000)
      }
    }
  })

  it("is told of a tool that there is not in few words", async () => {
    const answer = await call(owner, "x".repeat(100_000), {})
    expect(answer.text.length).toBeLessThan(500)
  })
})

describe("what a request of 2026-07-28 says of itself", () => {
  const prefix = "io.modelcontextprotocol/"
  it.each<readonly [string, Readonly<Record<string, unknown>>]>([
    ["capabilities that are no object", { [`${prefix}clientCapabilities`]: "elicitation" }],
    ["capabilities that are none", { [`${prefix}clientCapabilities`]: null }],
    ["a list of capabilities", { [`${prefix}clientCapabilities`]: [{ elicitation: {} }] }],
    ["elicitation that is no object", { [`${prefix}clientCapabilities`]: { elicitation: [] } }],
    ["a client of another form", { [`${prefix}clientInfo`]: { name: { toString: 1 } } }],
    ["a progress token that is an object", { progressToken: { a: 1 } }],
    ["a level of logs that there is not", { [`${prefix}logLevel`]: "__proto__" }],
    ["very much", { x: "y".repeat(100_000) }]
  ])("may be %s, and is answered or refused, never with an error of ours", async (_, odd) => {
    const sent = statelessPost({
      method: "tools/call",
      params: { name: "list_projects", arguments: {} },
      meta: { ...envelope(), ...odd }
    })
    const answer = await owner.request("POST", "/mcp", sent)
    expect([200, 400]).toContain(answer.status)
    expect(answer.text).not.toMatch(/-32603|INTERNAL_ERROR/)
  })

  it.each([
    ["two names", { "mcp-name": "whoami, list_projects" }],
    ["a name in another alphabet's letters", { "mcp-name": "=?base64?d2hvYW1p?=" }],
    ["a name with a space", { "mcp-name": "list_projects x" }]
  ])("is refused with %s in the header: -32020", async (_, headers) => {
    const sent = statelessPost({ method: "tools/call", params: { name: "list_projects", arguments: {} }, headers })
    const answer = await owner.request("POST", "/mcp", sent)
    expect([answer.status, rpcOf(answer).error?.code]).toEqual([400, -32020])
  })
})
