import { nextPage } from "#tools/paging.ts"
import { linksOf } from "#tools/result-links.ts"
import { resultText } from "#tools/result-text.ts"
import { FastCheck as fc } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { type Account, type Project, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"

const berth = useBerth()
let owner: Account
let project: Project
let server: Server

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  project = await owner.project("Corner Cafe")
  server = await owner.server(project.id, { name: "Menu" })
})

interface Answer {
  readonly result: {
    readonly content: ReadonlyArray<{ readonly text: string }>
    readonly structuredContent: Readonly<Record<string, unknown>>
  }
}

const call = async (name: string, args: object, revision?: string) => {
  const { text } = await owner.request("POST", "/mcp", {
    body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } },
    headers: {
      accept: "application/json, text/event-stream",
      ...(revision === undefined ? {} : { "mcp-protocol-version": revision })
    }
  })
  const { result } = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) as Answer
  return { text: result.content[0]?.text ?? "", value: result.structuredContent }
}

describe("the text of a result", () => {
  it("is the whole value where the client's revision has no structuredContent, or is not told", async () => {
    for (const revision of ["2024-11-05", "2025-03-26", undefined]) {
      const { text, value } = await call("list_servers", {}, revision)
      expect(JSON.parse(text), String(revision)).toEqual(value)
    }
  })

  it("is short and readable where it has", async () => {
    for (const revision of ["2025-06-18", "2025-11-25"]) {
      const one = await call("get_server", { serverId: server.id }, revision)
      expect(one.text.split("\n")).toEqual(expect.arrayContaining([`id: ${server.id}`, "name: Menu"]))
      expect(one.text.length).toBeLessThan(JSON.stringify(one.value).length)
      const { text } = await call("list_projects", {}, revision)
      expect(text).toMatch(new RegExp(`^- id: ${project.id}; name: Corner Cafe; .*\n1 in all$`))
    }
  })

  it("of a new hub key has the id that revokes it, and no count", async () => {
    const { text, value } = await call("hub_create_key", { tier: "explorer" }, "2025-11-25")
    const { key, meta } = value as { readonly key: string; readonly meta: { readonly id: string } }
    expect(text).toContain(`key: ${key}`)
    expect(text).toContain(`id: ${meta.id}`)
    expect(text).not.toContain("in all")
  })

  it("of a log is its lines, and of a skill the skill", async () => {
    expect((await call("get_logs", { serverId: server.id }, "2025-11-25")).text).toBe("Nothing is logged")
  })

  it("of find_tools has what a call needs: each tool's use and arguments", async () => {
    const { text, value } = await call("find_tools", { query: "restart_server" }, "2025-11-25")
    const [first] = value["tools"] as ReadonlyArray<{ name: string; whenToUse: string; inputSchema: object }>
    expect(text).toContain(
      `${first?.name}: ${first?.whenToUse}\narguments: ${JSON.stringify(first?.inputSchema)}`
    )
    expect(text.length).toBeLessThan(JSON.stringify(value).length / 2)
  })

  it("tells a page's cursor, and that nothing is found", () => {
    const meta = { cursor: "abc", hasMore: true, total: 3 }
    expect(resultText({ data: [{ id: "a", none: null, list: [], tags: ["x", "y"], in: { deep: 1 } }], meta }))
      .toBe("- id: a; tags: x, y; in: {deep: 1}\n3 in all")
    expect(resultText({ data: [], meta: { cursor: null, hasMore: false, total: 0 } })).toBe("Nothing found\n0 in all")
    expect(resultText({ data: ["A", "B"] })).toBe("- A\n- B")
  })

  it("ends with the call that reads the next page, which does", async () => {
    await owner.project("Second Cafe")
    const { text } = await call("list_projects", { limit: 1 }, "2025-11-25")
    const [, next] = /\nNext page: list_projects (\{.*\})$/.exec(text) ?? []
    const second = await call("list_projects", JSON.parse(next ?? "") as object, "2025-11-25")
    expect([text, second.text]).toEqual([
      expect.stringContaining("name: Second Cafe"),
      expect.stringMatching(/name: Corner Cafe(?!.*Next page)/s)
    ])
  })

  it("tells it for a log and a registry in their own words, and no long arguments twice", () => {
    const of = (field: string) => ({
      name: "read",
      inputSchema: { type: "object", properties: { [field]: {} } }
    } as const)
    expect(nextPage(of("before"), { id: "a" }, { items: [], cursor: "c", hasMore: true }))
      .toBe("Next page: read {\"id\":\"a\",\"before\":\"c\"}")
    expect(nextPage(of("cursor"), {}, { listings: [], next_cursor: "c" })).toBe("Next page: read {\"cursor\":\"c\"}")
    expect(nextPage(of("cursor"), { id: "x".repeat(1_000) }, { next_cursor: "c" }))
      .toBe("Next page: read with the same arguments and cursor: \"c\"")
    for (const last of [{ cursor: "c", hasMore: false }, { meta: { cursor: null, hasMore: false } }, 7, undefined]) {
      expect(nextPage(of("cursor"), {}, last)).toBe(undefined)
    }
  })

  it("is beside links to what has a page or a document", () => {
    expect(linksOf({ pageUrl: "https://a.example/b", skillUrl: "", rows: [{ pageUrl: "https://c.example" }] })).toEqual(
      [
        {
          type: "resource_link",
          uri: "https://a.example/b",
          name: "page",
          title: "Page for people",
          mimeType: "text/html"
        }
      ]
    )
  })

  it("cuts sentences, but no key or address, and ends", () => {
    const words = "word ".repeat(1_000)
    const key = "k".repeat(3_000)
    const text = resultText({ words, key, rows: [{ words, key }] })
    expect(text).toContain(`key: ${key}`)
    expect(text).toMatch(/^words: (word )+word…$/m)
    const many = resultText({ data: Array.from({ length: 1_000 }, (_, id) => ({ id, words })) })
    expect(many.length).toBeLessThan(8_200)
    expect(many).toMatch(/\n… \d+ more lines in structuredContent$/)
  })

  it("is well-formed and bounded for any value", () => {
    fc.assert(fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const text = resultText(value)
      expect(text.isWellFormed() || !JSON.stringify(value).isWellFormed()).toBe(true)
    }))
  })
})
