import { RepeatedBytes, sizeOf } from "#http/connection/repeated-bytes.ts"
import { FastCheck as fc } from "effect"
import { once } from "node:events"
import { createServer, type IncomingMessage } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { text as textOf } from "node:stream/consumers"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

const head = (length: string) => `POST /a HTTP/1.1\r\nHost: b\r\ncontent-length: ${length}\r\nX-After: \u00e9\r\n\r\n`

describe("the bytes of a request", () => {
  let read: ReadonlyArray<{ readonly req: IncomingMessage; readonly body: string }> = []
  const server = createServer((req, res) =>
    void textOf(req.setEncoding("latin1")).then((body) => {
      read = [...read, { req, body }]
      res.end()
    }, () => undefined)
  )
  beforeAll(() => once(server.listen(0, "127.0.0.1"), "listening"))
  afterAll(() => server.close())

  /** The requests that Node reads of these bytes, when nothing follows. */
  const readBy = async (text: string) => {
    read = []
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").on("error", () => undefined).resume()
    socket.end(text, "latin1")
    await once(socket, "close")
    return read
  }

  const change = fc.tuple(
    fc.nat(80),
    fc.nat(2),
    fc.constantFrom("", "0", "1", "7", " ", "\t", "\r", "\n", "\r\n", "\r\n ", ":", "+", "content-length: 1\r\n")
  )
  const changed = (text: string, [at, count, by]: readonly [number, number, string]) =>
    text.slice(0, at) + by + text.slice(at + count)
  const body = fc.constantFrom("a", "{}", "0123456789", head("3") + "abc", "\r\n", "x".repeat(100))

  it("are one whole request with that head to Node, too, when they are taken for one", async () => {
    const [known] = await readBy(head("1") + "a")
    const bytes = RepeatedBytes.of(known!.req)!
    let taken = 0
    await fc.assert(
      fc.asyncProperty(body, fc.option(change, { nil: undefined, freq: 3 }), async (sent, by) => {
        const plain = head(String(sent.length)) + sent
        const text = by === undefined ? plain : changed(plain, by)
        const found = bytes.bodyIn(Buffer.from(text, "latin1"))
        if (by === undefined) assert.strictEqual(found?.toString("latin1"), sent)
        if (found === undefined) return
        taken++
        const all = await readBy(text)
        assert.deepStrictEqual(all.map((one) => one.body), [found.toString("latin1")])
        const without = (req: IncomingMessage) => req.rawHeaders.toSpliced(3, 1)
        assert.deepStrictEqual(without(all[0]!.req), without(known!.req))
      }),
      { numRuns: 500 }
    )
    assert.isAbove(taken, 50)
  })

  it("are as many as Node takes for it, when that is certain", async () => {
    await fc.assert(
      fc.asyncProperty(body, fc.option(change, { nil: undefined, freq: 3 }), async (sent, by) => {
        const plain = head(String(sent.length)) + sent
        const text = by === undefined ? plain : changed(plain, by)
        const all = await readBy(text)
        const size = all[0] === undefined ? undefined : sizeOf(all[0].req, Buffer.from(text, "latin1"))
        if (by === undefined) assert.strictEqual(size, text.length)
        if (size !== undefined) assert.isTrue(text.slice(0, size).endsWith(`\r\n\r\n${all[0]!.body}`), text)
      }),
      { numRuns: 150 }
    )
  })

  it.each(["", "0", "00", "01", "+1", " 1", "1 ", "1,1", "0x1", "100000", "99999999999999999999"])(
    "are not taken for a request with the length %j",
    async (length) => {
      const [known] = await readBy(head("1") + "a")
      assert.isUndefined(RepeatedBytes.of(known!.req)!.bodyIn(Buffer.from(head(length) + "a", "latin1")))
    }
  )

  it("are not known again with a head that another length could make too long", async () => {
    const headOf = (letters: number) =>
      `POST /a HTTP/1.1\r\nHost: b\r\nX: ${"x".repeat(letters)}\r\nContent-Length: 1\r\n\r\na`
    for (const [letters, isKnown] of [[15_000, true], [15_600, false]] as const) {
      const [known] = await readBy(headOf(letters))
      assert.strictEqual(RepeatedBytes.of(known!.req) !== undefined, isKnown)
    }
  })
})
