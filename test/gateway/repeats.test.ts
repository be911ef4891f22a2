import { AccessTokens } from "#src/oauth/AccessTokens.ts"
import { allMcpScopes } from "#src/oauth/scopes/scopes.ts"
import { RequestMetering } from "#src/usage/RequestMetering.ts"
import { assert, layer } from "@effect/vitest"
import { Effect, Exit, FastCheck as fc, Scope } from "effect"
import { once } from "node:events"
import { type Socket } from "node:net"
import { openClient, pause, plain, startListener, startMachine } from "./repeats-support.ts"
import { deploy, gatewayServices, newServer } from "./support.ts"

const warm = "warm"
const requestOf = (head: string, body: string) => `${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`

/** A client whose next request with that head is one that repeats it. */
const warmClient = async (port: number, head: string) => {
  const client = await openClient(port)
  for (let i = 1; i <= 3; i++) {
    await client.write(requestOf(head, warm))
    await client.until(i)
  }
  client.answers.length = 0
  return client
}

const chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n"
const events = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n0\r\n\r\n"

/** What machines answer, by the body that asks for it. */
const kinds: Readonly<Record<string, string>> = {
  chunks,
  events,
  nothing: "HTTP/1.1 204 No Content\r\n\r\n",
  empty: plain(""),
  big: plain("b".repeat(1_000_000)),
  middle: plain("m".repeat(20_000)),
  failed: plain("failed").replace("200 OK", "500 "),
  latin: plain("\u00e9", "X-Latin: \u00e9", "Content-Disposition: attachment; filename=\"\u00c3\u00a9\""),
  mute: plain("trailer", "Trailer: X-Trailer"),
  invalid: plain("invalid", "X-Bad: a\u0001b"),
  wrong: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nwrong!",
  dies: ""
}

layer(gatewayServices(), { excludeTestServices: true })("a request that repeats its connection's head", (it) => {
  /** A server whose machine answers each kind, or with its number, and a listener. */
  const setUp = Effect.gen(function*() {
    const held: Array<Socket> = []
    const got: Array<string> = []
    const machine = yield* startMachine(({ body, socket, text }) => {
      got.push(text)
      const kind = kinds[body]
      if (body.startsWith("hold")) held.push(socket)
      else if (body.startsWith("slow")) setTimeout(() => socket.write(chunks), 30)
      else if (kind === "") socket.destroy()
      else socket.write(kind ?? plain(`got ${body}`))
    })
    const server = yield* newServer({ machine })
    const headWith = (token: string, start = `POST ${server.path}/mcp HTTP/1.1`) =>
      `${start}\r\nHost: berth.test\r\nAuthorization: Bearer ${token}`
    return { ...server, got, held, head: headWith(server.token), headWith }
  })

  it.scoped("passes Node's parser by", () =>
    Effect.gen(function*() {
      const [{ head }, { count, port }] = [yield* setUp, yield* startListener()]
      const client = yield* Effect.promise(() => warmClient(port, head))
      const before = count.taken
      yield* Effect.promise(async () => {
        for (const [i, body] of ["{}", "x".repeat(30_000), "[1]"].entries()) {
          await client.write(requestOf(head, body))
          assert.isTrue((await client.until(i + 1))[i]?.endsWith(`got ${body}`), body.slice(0, 10))
        }
      })
      assert.strictEqual(count.taken - before, 3)
      client.socket.destroy()
    }))

  it.scoped("gets what it would get by Node's parser, whatever the machine answers", () =>
    Effect.gen(function*() {
      const { head } = yield* setUp
      const [on, off] = [yield* startListener(), yield* startListener(false)]
      for (const kind of Object.keys(kinds)) {
        const [ours, nodes] = yield* Effect.promise(() =>
          Promise.all([on.port, off.port].map(async (port) => {
            const client = await warmClient(port, head)
            const before = on.count.taken
            await client.write(requestOf(head, kind))
            await client.until(1)
            if (port === on.port) assert.strictEqual(on.count.taken, before + 1, kind)
            await client.write(requestOf(head, "after"))
            const answers = [...await client.until(2), client.isOver()]
            client.socket.destroy()
            return answers
          }))
        )
        assert.deepStrictEqual(ours, nodes, kind)
        assert.strictEqual(ours?.length, 3, kind)
      }
      assert.strictEqual(off.count.taken, 0)
    }))

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
          // What a length leaves open is not waited for.
          await client.until(count, 60)
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
          { numRuns: 15 }
        )
      )
      assert.isAbove(on.count.taken, 15)
      assert.strictEqual(off.count.taken, 0)
    }))

  it.scoped("is answered in its turn, although others come before its answer", () =>
    Effect.gen(function*() {
      const [{ got, head }, { count, port }] = [yield* setUp, yield* startListener()]
      for (const first of ["hold", "slow"]) {
        const client = yield* Effect.promise(() => warmClient(port, head))
        const [asked, before] = [got.length, count.taken]
        yield* Effect.promise(async () => {
          await client.write(...[`slow ${first}`, "one", "two", "three"].map((body) => requestOf(head, body)))
          const answers = await client.until(4)
          assert.deepStrictEqual(answers.map((text) => text.slice(text.indexOf("\r\n\r\n") + 4)).slice(1), [
            "got one",
            "got two",
            "got three"
          ])
        })
        assert.isAbove(count.taken, before)
        assert.deepStrictEqual(got.slice(asked).map((text) => text.split("\r\n\r\n")[1]), [
          `slow ${first}`,
          "one",
          "two",
          "three"
        ])
        client.socket.destroy()
      }
    }))

  it.scoped("is given up when its client leaves", () =>
    Effect.gen(function*() {
      const [{ head, held }, { count, port }] = [yield* setUp, yield* startListener()]
      for (const leave of [(socket: Socket) => socket.destroy(), (socket: Socket) => socket.end()]) {
        held.length = 0
        yield* Effect.promise(async () => {
          const client = await warmClient(port, head)
          const before = count.taken
          await client.write(requestOf(head, "hold"))
          while (held.length === 0) await pause(1)
          assert.strictEqual(count.taken, before + 1)
          leave(client.socket)
          await once(held[0]!, "close")
        })
      }
    }))

  it.scoped("is not let in by a token that was revoked, and goes to the machine that serves now", () =>
    Effect.gen(function*() {
      const [{ accountId, audience, headWith, id }, { count, port }] = [yield* setUp, yield* startListener()]
      const tokens = yield* AccessTokens
      const whose = { accountId, audience, scope: allMcpScopes, clientId: "test", familyId: "lane", serverId: id }
      const { token } = yield* tokens.mint(whose)
      const client = yield* Effect.promise(() => warmClient(port, headWith(token)))
      const asked = (body: string) =>
        Effect.promise(async () => {
          await client.write(requestOf(headWith(token), body))
          return (await client.until(client.answers.length + 1)).at(-1)!
        })
      yield* deploy(id, yield* startMachine(({ body, socket }) => void socket.write(plain(`new ${body}`))))
      yield* asked("{}").pipe(
        Effect.filterOrFail((answer) => answer.includes("new {}")),
        Effect.retry({ times: 200 })
      )
      yield* asked("{}")
      const before = count.taken
      assert.include(yield* asked("[]"), "new []")
      assert.strictEqual(count.taken, before + 1)
      yield* tokens.revokeFamily("lane")
      assert.match(yield* asked("{}"), /^HTTP\/1\.1 401 /)
      client.socket.destroy()
    }))

  it.scoped("is answered although the listener stops meanwhile, and is the last one then", () =>
    Effect.gen(function*() {
      const { head, held } = yield* setUp
      const scope = yield* Scope.make()
      const { count, port } = yield* Scope.extend(startListener(), scope)
      const [client, idle] = yield* Effect.promise(() => Promise.all([warmClient(port, head), warmClient(port, head)]))
      const before = count.taken
      yield* Effect.promise(async () => {
        await client.write(requestOf(head, "hold"))
        while (held.length === 0) await pause(1)
      })
      assert.strictEqual(count.taken, before + 1)
      const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* Effect.promise(async () => {
        await idle.until(1)
        assert.isTrue(idle.isOver())
        assert.isFalse(client.isOver())
        held[0]!.write(plain("at last"))
        assert.match((await client.until(1))[0]!, /^Connection: close\r\n[^]*at last$/m)
        await client.until(2)
        assert.isTrue(client.isOver())
      })
      yield* closing.await
    }))

  it.scoped("may take longer than its connection is kept", () =>
    Effect.gen(function*() {
      const [{ head, held }, { count, port, server }] = [yield* setUp, yield* startListener()]
      server.keepAliveTimeout = 60
      // Newer versions of Node wait longer than they say.
      Object.assign(server, { keepAliveTimeoutBuffer: 0 })
      yield* Effect.promise(async () => {
        const client = await warmClient(port, head)
        const before = count.taken
        await client.write(requestOf(head, "hold"))
        await pause(200)
        held[0]!.write(plain("at last"))
        assert.include((await client.until(1))[0], "at last")
        assert.strictEqual(count.taken, before + 1)
        await client.until(2)
        assert.isTrue(client.isOver())
      })
    }))

  it.scoped("waits for a client that does not read its answers", () =>
    Effect.gen(function*() {
      const [{ got, head }, { count, port, server }] = [yield* setUp, yield* startListener()]
      const sockets: Array<Socket> = []
      server.on("connection", (socket: Socket) => sockets.push(socket))
      yield* Effect.promise(async () => {
        const client = await warmClient(port, head)
        client.socket.pause()
        const body = "x".repeat(15_000)
        let [sent, asked] = [0, got.length]
        for (let quiet = 0; quiet < 40;) {
          if (got.length === asked + sent) {
            sent++
            client.socket.write(requestOf(head, body))
            quiet = 0
          } else quiet++
          await pause(1)
          assert.isBelow(sent, 3_000)
        }
        assert.isAbove(count.taken, sent / 2)
        assert.isBelow(sockets[0]!.writableLength, 200_000)
        assert.isBelow(sockets[0]!.readableLength, 200_000)
        client.socket.resume()
        assert.strictEqual((await client.until(sent)).length, sent)
        client.socket.destroy()
      })
    }))

  it.scoped("is counted as any other, with its bytes", () =>
    Effect.gen(function*() {
      const metering = yield* RequestMetering
      const bytes: Array<number> = []
      const counting = RequestMetering.make({
        ...metering,
        addBytes: (account, count) => {
          bytes.push(count)
          metering.addBytes(account, count)
        },
        admit: (account, limit) => {
          bytes.push(0)
          return metering.admit(account, limit)
        }
      })
      const { head } = yield* setUp
      const totals: Array<readonly [requests: number, bytes: number]> = []
      for (const isOn of [true, false]) {
        bytes.length = 0
        const { count, port } = yield* startListener(isOn).pipe(Effect.provideService(RequestMetering, counting))
        yield* Effect.promise(async () => {
          const client = await warmClient(port, head)
          for (const [i, body] of ["{}", "chunks", "big"].entries()) {
            await client.write(requestOf(head, body))
            await client.until(i + 1)
          }
          client.socket.destroy()
          await pause(10)
        })
        assert.strictEqual(count.taken > 2, isOn)
        totals.push([bytes.filter((one) => one === 0).length, bytes.reduce((sum, one) => sum + one, 0)])
      }
      assert.deepStrictEqual(totals[0], totals[1])
      assert.strictEqual(totals[0]![0], 6)
    }))
})
