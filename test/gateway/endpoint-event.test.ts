import { endpointRewriter } from "#http/gateway/endpoint-event.ts"
import { rewriteEndpoint } from "#src/routing/addressing.ts"
import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"

const addressing = { machineHost: "localhost:8080", clientHost: "Berth.test", scheme: "http", prefix: "/s/a" }
const rewrite = (data: string) => rewriteEndpoint(addressing, data)

const through = (chunks: ReadonlyArray<Buffer>) => {
  const rewriter = endpointRewriter(rewrite)
  return Buffer.concat([...chunks.map(rewriter.push), rewriter.end()])
}

const cut = (text: Buffer, cuts: ReadonlyArray<number>) => {
  const at = [0, ...cuts.map((n) => n % (text.length + 1)).sort((a, b) => a - b), text.length]
  return at.slice(1).map((end, i) => text.subarray(at[i], end))
}

describe("the endpoint event of the legacy transport", () => {
  it.each([
    ["event: endpoint\ndata: /message?sessionId=1\n\n", "event: endpoint\ndata: /s/a/message?sessionId=1\n\n"],
    ["event:endpoint\r\ndata:/message\r\n\r\n", "event:endpoint\r\ndata: /s/a/message\r\n\r\n"],
    ["data: /message\revent: endpoint\r\r", "data: /s/a/message\revent: endpoint\r\r"],
    [": hello\n\nevent: endpoint\ndata: /m\n\n", ": hello\n\nevent: endpoint\ndata: /s/a/m\n\n"],
    ["retry: 10\nid: 1\nevent: endpoint\ndata: /m\n\n", "retry: 10\nid: 1\nevent: endpoint\ndata: /s/a/m\n\n"]
  ])("gets the prefix: %j", (before, after) => assert.strictEqual(String(through([Buffer.from(before)])), after))

  it.each([
    ["/s/a/message?x=1", "/s/a/message?x=1"],
    ["/s/a", "/s/a"],
    ["/s/ab", "/s/a/s/ab"],
    ["message?x=1", "message?x=1"],
    ["?x=1", "?x=1"],
    ["//other.test/message", "//other.test/message"],
    ["https://other.test/message", "https://other.test/message"],
    ["http://berth.test.evil/message", "http://berth.test.evil/message"],
    ["http://berth.test/message", "/s/a/message"],
    ["HTTP://Berth.test/message", "/s/a/message"],
    ["http://berth.test/s/a/message", "http://berth.test/s/a/message"],
    ["http://localhost:8080/message?x=1", "/s/a/message?x=1"],
    ["https://LOCALHOST:8080/s/a/message", "/s/a/message"],
    ["http://localhost:8081/message", "http://localhost:8081/message"],
    ["", ""]
  ])("leads to the right place: %s → %s", (before, after) => assert.strictEqual(rewrite(before), after))

  it.each([
    ["/message?x=1", "/message?x=1"],
    ["message?x=1", "message?x=1"],
    ["http://a.mcp.test/message", "http://a.mcp.test/message"],
    ["http://localhost:8080/message?x=1", "/message?x=1"],
    ["http://other.test/message", "http://other.test/message"]
  ])(
    "leads to the right place in the host form: %s → %s",
    (before, after) =>
      assert.strictEqual(rewriteEndpoint({ ...addressing, clientHost: "a.mcp.test", prefix: "" }, before), after)
  )

  it("is found wherever the stream is cut, and every other byte stays as it is", () => {
    const line = fc.constantFrom(
      ": c",
      "data: /x",
      "event: message",
      "event: endpoint",
      "id: é",
      "",
      "data",
      "data: {\"a\":1}"
    )
    const stream = fc.tuple(fc.array(line, { maxLength: 12 }), fc.constantFrom("\n", "\r\n", "\r"))
      .map(([lines, end]) => Buffer.from(lines.join(end) + end))
    fc.assert(
      fc.property(stream, fc.array(fc.nat(), { maxLength: 6 }), (stream, cuts) => {
        assert.strictEqual(String(through(cut(stream, cuts))), String(through([stream])))
      }),
      { numRuns: 1000 }
    )
  })

  it("is not looked for behind the first event: a message may hold the same words", () => {
    const stream = Buffer.from("event: message\ndata: {}\n\nevent: endpoint\ndata: /message\n\n")
    assert.strictEqual(String(through([stream])), String(stream))
  })

  it("does not hold back comments, nor a first event that has no end", () => {
    const rewriter = endpointRewriter(rewrite)
    assert.strictEqual(String(rewriter.push(Buffer.from(": ping\n"))), ": ping\n")
    assert.strictEqual(String(rewriter.push(Buffer.from("data: "))), "")
    const long = Buffer.alloc(20_000, "x")
    assert.strictEqual(String(rewriter.push(long)), `data: ${long}`)
    assert.strictEqual(String(rewriter.push(Buffer.from("more"))), "more")
  })
})
