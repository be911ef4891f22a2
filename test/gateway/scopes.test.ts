import { hasDoubtfulKeys } from "#http/gateway/doubtful-keys.ts"
import { readRpcBody } from "#http/gateway/rpc-body.ts"
import { makeToolMarks } from "#http/gateway/tool-marks.ts"
import { allowsEverything, mcpScopesIn, missingScopes, needsOf, partOfMcp } from "#src/oauth/scopes/mcp-scopes.ts"
import { mcpScopes } from "#src/oauth/scopes/scopes.ts"
import { FastCheck as fc } from "effect"
import { assert, describe, it } from "vitest"

const missing = (
  body: unknown,
  scope: string,
  changes: ReadonlyArray<string> = []
) => [...missingScopes(needsOf(body), mcpScopesIn(scope), new Set(changes))]
const message = (method: string, params?: unknown) => ({ jsonrpc: "2.0", id: 1, method, params })
const toolCall = (name: unknown) => message("tools/call", { name, arguments: {} })

const reads = [
  "tools/list",
  "resources/list",
  "resources/read",
  "resources/templates/list",
  "prompts/get",
  "skills/list",
  "skills/get",
  "resources/directory/read"
]

describe("scopes and what a message does", () => {
  it("mcp:read lists and reads, and calls nothing", () => {
    for (const method of reads) assert.deepStrictEqual(missing(message(method), "mcp:read"), [], method)
    assert.deepStrictEqual(missing(toolCall("x"), "mcp:read", ["x"]), ["mcp:execute"])
  })
  it("mcp:execute calls any tool, and reads nothing", () => {
    assert.deepStrictEqual(missing(toolCall("x"), "mcp:execute"), [])
    for (const method of reads) assert.deepStrictEqual(missing(message(method), "mcp:execute"), ["mcp:read"], method)
  })
  it("mcp:write calls the tools that are marked state-changing, and no other", () => {
    assert.deepStrictEqual(missing(toolCall("x"), "mcp:write", ["x"]), [])
    assert.deepStrictEqual(missing(toolCall("y"), "mcp:write", ["x"]), ["mcp:execute"])
    assert.deepStrictEqual(missing(message("tools/list"), "mcp:write"), ["mcp:read"])
  })
  it("any one scope takes part in the conversation; a token without any is refused all of it", () => {
    const messages = [
      message("initialize"),
      message("ping"),
      message("server/discover"),
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: 1, result: {} },
      { jsonrpc: "2.0", id: 1, error: { code: 1, message: "" } }
    ]
    for (const body of messages) {
      for (const scope of mcpScopes) assert.deepStrictEqual(missing(body, scope), [])
      for (const scope of ["", "offline_access", "mcp:reads", "xmcp:read"]) {
        assert.notDeepEqual(missing(body, scope), [], scope)
      }
    }
  })
  it("what is not known takes read and execute together", () => {
    const bodies = [message("vendor/do"), message("Tools/List"), {}, null, 1, "tools/list", [], [[]], toolCall(1), {
      jsonrpc: "2.0",
      id: 1,
      method: ["tools/list"]
    }]
    for (const body of bodies) {
      assert.deepStrictEqual(missing(body, "mcp:read"), ["mcp:execute"], JSON.stringify(body))
      assert.deepStrictEqual(missing(body, "mcp:execute"), ["mcp:read"])
      assert.deepStrictEqual(missing(body, "mcp:write"), ["mcp:read", "mcp:execute"])
    }
  })
  it("a batch needs what each of its messages needs", () => {
    assert.deepStrictEqual(missing([message("tools/list"), toolCall("x")], "mcp:read"), ["mcp:execute"])
    assert.deepStrictEqual(missing([message("tools/list"), message("ping")], "mcp:read"), [])
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...reads, "tools/call", "ping", "vendor/x"), { minLength: 1 }), (all) => {
        const each = all.flatMap((method) => missing(message(method), "mcp:read"))
        assert.deepStrictEqual(new Set(missing(all.map((method) => message(method)), "mcp:read")), new Set(each))
      })
    )
  })
  it("only read and execute together need no look", () => {
    assert.isTrue(allowsEverything("offline_access mcp:execute mcp:read"))
    for (const scope of ["mcp:read mcp:write", "mcp:execute", "", "mcp:read mcp:executed", "mcp:read\tmcp:execute"]) {
      assert.isFalse(allowsEverything(scope), scope)
    }
  })
})

describe("a request is part of MCP", () => {
  const stream = "application/json, text/event-stream"
  const ends = ["", "/", "?", "?sessionId=1", "/?x=/mcp"]
  it.each<readonly [string, string, string | undefined, ReturnType<typeof partOfMcp>]>([
    ["POST", "/mcp", undefined, "message"],
    ["POST", "/message", undefined, "message"],
    ["POST", "/sse", undefined, "message"],
    ["GET", "/mcp", stream, "conversation"],
    ["GET", "/sse", stream, "conversation"],
    ["DELETE", "/mcp", undefined, "conversation"],
    ["GET", "/mcp", "application/json", undefined],
    ["GET", "/sse", undefined, undefined],
    ["GET", "/message", stream, undefined],
    ["DELETE", "/message", undefined, undefined],
    ["DELETE", "/sse", undefined, undefined]
  ])("by its HTTP method: %s %s, accepting %s, is %s", (method, path, accept, part) => {
    for (const end of ends) assert.strictEqual(partOfMcp(method, path + end, accept), part, path + end)
  })
  it("at /mcp, /message and /sse only, to the letter", () => {
    const elsewhere = [
      "/",
      "/orders/1/refund",
      "/mcp/orders",
      "/mcp//",
      "//mcp",
      "/mcpx",
      "/MCP",
      "/x/mcp",
      "/%6dcp",
      "/mcp;x",
      "/mcp#/orders",
      "/mcp/../orders",
      "/messages/",
      "?/mcp"
    ]
    for (const path of elsewhere) {
      for (const method of ["POST", "GET", "DELETE"]) assert.isUndefined(partOfMcp(method, path, stream), path)
    }
  })
  it("by no other HTTP method", () => {
    for (const method of ["PUT", "PATCH", "HEAD", "OPTIONS", "PROPFIND", "post", ""]) {
      for (const path of ["/mcp", "/message", "/sse"]) assert.isUndefined(partOfMcp(method, path, stream), method)
    }
  })
})

const headers = {
  contentType: "application/json",
  contentEncoding: undefined,
  method: undefined,
  name: undefined,
  revision: undefined
}
const read = (text: string, more: Partial<typeof headers> | Record<string, string> = {}) =>
  readRpcBody(Buffer.from(text), { ...headers, ...more })._tag

describe("a body that another parser could read otherwise", () => {
  it("is refused", () => {
    const doubtful = [
      `{"method":"tools/list","method":"tools/call"}`,
      `{"method":"tools/list","\\u006dethod":"tools/call"}`,
      `{"method":"tools/list","Method":"tools/call"}`,
      `{"METHOD":"tools/call","result":{}}`,
      `{"method":"tools/call","params":{"name":"a","name":"b"}}`,
      `{"method":"tools/call","params":{"name":"a","Name":"b"}}`,
      `{"method":"tools/call","params":{"name":"a"},"param\u017f":{"name":"b"}}`,
      `{"method":"tools/call","params":{"name":"a"},"params":{"name":"b"}}`,
      `[{"method":"ping"},{"method":"tools/list","method":"tools/call"}]`,
      `${"[".repeat(600)}${"]".repeat(600)}`
    ]
    for (const text of doubtful) assert.strictEqual(read(text), "Doubtful", text)
  })
  it("is not suspected when only arguments look alike, or a string looks like a key", () => {
    const clear = [
      `{"method":"tools/call","params":{"name":"a","arguments":{"a":1,"A":2,"name":1,"Name":2,"method":3}}}`,
      `{"method":"x","params":{"_meta":{"name":1,"NAME":2}},"id":"\\"method\\":"}`,
      `[{"method":"ping"},{"method":"ping"}]`,
      `{"method":"ping","params":["method","method",{"name":1,"Name":1}]}`
    ]
    for (const text of clear) assert.strictEqual(read(text), "Json", text)
  })
  it("is told by JSON.parse alone when no key is doubtful: the scanner follows any JSON", () => {
    fc.assert(fc.property(fc.json(), (text) => {
      const value: unknown = JSON.parse(text)
      // What is stringified has no key twice; only case can be in doubt, and fc.json's keys are rarely ours.
      const plain = JSON.stringify({ jsonrpc: "2.0", method: "x", params: { name: "x", arguments: value } })
      assert.isFalse(hasDoubtfulKeys(plain))
      assert.isTrue(hasDoubtfulKeys(`{"x":${text},"method":"a","method":"b"}`))
    }))
  })
  it("is opaque when it is compressed, of another type or charset, not UTF-8, or no JSON", () => {
    const json = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
    assert.strictEqual(read(json, { contentType: "Application/JSON; charset=\"UTF-8\"" }), "Json")
    for (
      const contentType of ["text/plain", "application/json; charset=utf-7", "application/x-www-form-urlencoded", ""]
    ) {
      assert.strictEqual(read(json, { contentType }), "Opaque", contentType)
    }
    assert.strictEqual(read(json, { contentEncoding: "gzip" }), "Opaque")
    for (const text of [`\ufeff${json}`, `${json}\n${json}`, "", `${json},`]) assert.strictEqual(read(text), "Opaque")
    assert.strictEqual(readRpcBody(Buffer.from(json, "utf16le"), headers)._tag, "Opaque")
    assert.strictEqual(readRpcBody(Buffer.from([0x22, 0xff, 0x22]), headers)._tag, "Opaque")
  })
  it("counts, and not what Mcp-Method and Mcp-Name say of it", () => {
    const json = `{"method":"tools/call","params":{"name":"wipe"}}`
    assert.strictEqual(read(json, { method: "tools/list" }), "Doubtful")
    assert.strictEqual(read(json, { method: "tools/call", name: "look" }), "Doubtful")
    assert.strictEqual(read(json, { method: "tools/call", name: "wipe" }), "Json")
    assert.strictEqual(read(json, { method: "tools/call", name: "=?base64?d2lwZQ==?=" }), "Json")
    assert.strictEqual(read(`[${json}]`, { method: "tools/call" }), "Doubtful")
    // A parameter that this method has not is no excuse.
    const beside = `{"method":"tools/call","params":{"name":"wipe","uri":"look"}}`
    assert.strictEqual(read(beside, { name: "look" }), "Doubtful")
    assert.strictEqual(read(`{"method":"resources/read","params":{"uri":"a","name":"b"}}`, { name: "b" }), "Doubtful")
    assert.strictEqual(read(`{"method":"resources/read","params":{"uri":"a","name":"b"}}`, { name: "a" }), "Json")
    assert.strictEqual(read(`{"method":"tasks/get","params":{"taskId":"t"}}`, { name: "t" }), "Json")
  })
  it("is of the revision that it says, and not of another one in MCP-Protocol-Version", () => {
    const json = `{"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`
    assert.strictEqual(read(json, { revision: "2026-07-28" }), "Json")
    assert.strictEqual(read(json), "Json")
    assert.strictEqual(read(json, { revision: "2025-11-25" }), "Doubtful")
    assert.strictEqual(read(`{"method":"tools/list"}`, { revision: "2025-11-25" }), "Json")
  })
})

describe("marks of tools", () => {
  const request = { machine: { _tag: "Unix", path: "/x" }, path: "/mcp", headers: {}, envelope: undefined } as const
  const setUp = (lists: ReadonlyArray<ReadonlyMap<string, boolean> | Error>) => {
    let at = 0
    let asked = 0
    const marks = makeToolMarks({
      now: () => at,
      list: () => {
        const answer = lists[Math.min(asked++, lists.length - 1)]!
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
      }
    })
    return { marks, asked: () => asked, advance: (ms: number) => void (at += ms) }
  }

  it("are asked for once for all who wait, and known from then on", async () => {
    const { asked, marks } = setUp([new Map([["wipe", true], ["look", false]])])
    const all = await Promise.all(Array.from({ length: 5 }, () => marks("d", new Set(["wipe", "look"]), request)))
    for (const found of all) assert.deepStrictEqual(found, new Set(["wipe"]))
    assert.strictEqual(asked(), 1)
    await marks("d", new Set(["wipe"]), { ...request, path: "/mcp?x=1" })
    assert.strictEqual(asked(), 1)
    await marks("d", new Set(["wipe"]), { ...request, path: "/other" })
    await marks("e", new Set(["wipe"]), request)
    assert.strictEqual(asked(), 3, "another address and another deployment have tools of their own")
  })
  it("of a tool that was added are learnt, though not for the asking as often as one likes", async () => {
    const { advance, asked, marks } = setUp([new Map(), new Map([["new", true]])])
    assert.strictEqual((await marks("d", new Set(["new"]), request)).size, 0)
    assert.strictEqual((await marks("d", new Set(["new"]), request)).size, 0)
    assert.strictEqual(asked(), 1)
    advance(6_000)
    assert.deepStrictEqual(await marks("d", new Set(["new"]), request), new Set(["new"]))
  })
  it("that a machine does not tell are none", async () => {
    const { advance, marks } = setUp([new Error("down"), new Map([["x", true]])])
    assert.strictEqual((await marks("d", new Set(["x"]), request)).size, 0)
    advance(6_000)
    assert.strictEqual((await marks("d", new Set(["x"]), request)).size, 1)
  })
})
