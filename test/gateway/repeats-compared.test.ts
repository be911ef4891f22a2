import { assert, layer } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { requestOf, setUp, startListener, warmClient } from "./repeats-support.ts"
import { gatewayServices } from "./support.ts"

layer(gatewayServices(), { excludeTestServices: true })("a request on a connection that repeats a head", (it) => {
  it.scoped("is read as Node reads it, however its client writes it and cuts it", () =>
    Effect.gen(function*() {
      const { got, head, path } = yield* setUp
      const [on, off] = [yield* startListener(), yield* startListener(false)]
      const start = head.split("\r\n")[0]!
      const smuggled = requestOf(head, "smuggled")
      const oneOf = fc.constantFrom
      const body = fc.oneof(oneOf("a", "chunks", "", smuggled, "0\r\n\r\n", "\r\n\r\n"), fc.string({ maxLength: 40 }))
        .map((text) => text.replace(/[^\x20-\x7e\r\n]/g, "."))
      const step = fc.oneof(
        { weight: 4, arbitrary: body.map((text) => [requestOf(head, text)]) },
        // Of two at a time Node answers the second later: each is a packet.
        body.map((text) => [requestOf(head, text), requestOf(head, "next")]),
        body.map((text) => [requestOf(head, text) + requestOf(head, "next"), ""]),
        body.map((text) => [requestOf(`${head}\r\nX-Other: 1`, text)]),
        body.map((text) => [requestOf(`${head}\r\nX-Folded: 1\r\n 2`, text)]),
        body.map((text) => [`\r\n${requestOf(head, text)}`]),
        body.map((text) => [requestOf(head.replace("Host: ", "Host:  "), text)]),
        body.map((text) => [requestOf(head, text).replaceAll("\r\n", "\n")]),
        fc.tuple(body, oneOf("+", "0", "00000", "-", " ", "0x", "1 ", "1,")).map(([text, before]) => [
          requestOf(head, text).replace("Length: ", `Length: ${before}`)
        ]),
        oneOf(
          [`GET ${path}/mcp HTTP/1.1\r\n${head.slice(start.length + 2)}\r\n\r\n`],
          [`${head}\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`],
          [`${head}\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`],
          [`${head}\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`],
          [`${head}\r\nContent-Length: 99999999999999999999999\r\n\r\nabcd`],
          [requestOf(head, "y".repeat(70_000))],
          [requestOf(head.replace("HTTP/1.1", "HTTP/1.0"), "old")]
        )
      )
      const cut = (text: string, at: number | undefined) =>
        at === undefined || at >= text.length ? [text] : [text.slice(0, at), text.slice(at)]
      const steps = fc.array(fc.tuple(step, fc.option(fc.nat(300), { nil: undefined, freq: 2 })), {
        minLength: 1,
        maxLength: 5
      })
      const run = async (port: number, sent: ReadonlyArray<readonly [ReadonlyArray<string>, number | undefined]>) => {
        got.length = 0
        const client = await warmClient(port, head)
        let count = 0
        for (const [requests, at] of [...sent, [[requestOf(head, "last")], undefined] as const]) {
          count += requests.length
          await client.write(...requests.flatMap((text) => cut(text, requests.length > 1 ? undefined : at)))
          await client.until(count)
          count = client.answers.length
        }
        const result = { answers: [...client.answers], isOver: client.isOver(), got: got.toSorted() }
        client.socket.destroy()
        return result
      }
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(steps, async (sent) => {
            const [ours, nodes] = [await run(on.port, sent), await run(off.port, sent)]
            assert.deepStrictEqual(ours, nodes)
          }),
          { numRuns: 30 }
        )
      )
      // By chance about 40.
      assert.isAbove(on.count.taken, 10)
      assert.strictEqual(off.count.taken, 0)
    }))
})
