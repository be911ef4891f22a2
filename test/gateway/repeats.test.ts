import { AccessTokens } from "#src/oauth/AccessTokens.ts"
import { allMcpScopes } from "#src/oauth/scopes/scopes.ts"
import { RequestMetering } from "#src/usage/RequestMetering.ts"
import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { once } from "node:events"
import { type Socket } from "node:net"
import { kinds, pause, plain, requestOf, setUp, startListener, startMachine, warmClient } from "./repeats-support.ts"
import { deploy, gatewayServices } from "./support.ts"

layer(gatewayServices(), { excludeTestServices: true })("a request that repeats its connection's head", (it) => {
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

  it.scoped("is answered before a CONNECT behind it, whose connection is done then", () =>
    Effect.gen(function*() {
      const [{ head }, { count, port }] = [yield* setUp, yield* startListener()]
      for (const gap of [0, 10]) {
        yield* Effect.promise(async () => {
          const client = await warmClient(port, head)
          const before = count.taken
          client.socket.write(requestOf(head, "slow"))
          await pause(gap)
          client.socket.write("CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n")
          await once(client.socket, "close")
          assert.deepStrictEqual(client.answers.map((text) => text.slice(9, 12)), ["200", "405"])
          assert.include([before, before + 1], count.taken)
        })
      }
    }))

  it.scoped("is followed by a whole answer to one that waits for 100 Continue", () =>
    Effect.gen(function*() {
      const [{ head }, { port }] = [yield* setUp, yield* startListener()]
      for (const gap of [0, 10]) {
        yield* Effect.promise(async () => {
          const client = await warmClient(port, head)
          client.socket.write(requestOf(head, "slow"))
          await pause(gap)
          client.socket.write(`${head}\r\nExpect: 100-continue\r\nContent-Length: 6\r\n\r\nmiddle`)
          const answers = await client.until(2)
          assert.match(answers[1]!.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, ""), /^HTTP\/1\.1 200 OK\r\n/)
          await client.until(answers[1]!.startsWith("HTTP/1.1 100") ? 3 : 2)
          assert.match(client.answers.at(-1)!, /\r\n\r\nm{20000}$/)
          client.socket.destroy()
        })
      }
    }))

  it.scoped("is given up when its client leaves behind an Upgrade that is ignored", () =>
    Effect.gen(function*() {
      const [{ head, held }, { port }] = [yield* setUp, yield* startListener()]
      yield* Effect.promise(async () => {
        const client = await warmClient(port, head)
        client.socket.write(requestOf(`${head}\r\nConnection: Upgrade\r\nUpgrade: foo`, "hold"))
        while (held.length === 0) await pause(1)
        client.socket.end(requestOf(head, "x".repeat(3_000_000)))
        await once(held[0]!, "close")
      })
    }))

  it.scoped("is given up when its client leaves", () =>
    Effect.gen(function*() {
      const [{ head, held }, { count, port }] = [yield* setUp, yield* startListener()]
      const leaving = [
        (socket: Socket) => socket.destroy(),
        (socket: Socket) => socket.end(),
        (socket: Socket) => socket.end("P"),
        (socket: Socket) => socket.end("garbage\r\n\r\n"),
        (socket: Socket) => socket.write("CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n", () => socket.end()),
        (socket: Socket) => socket.end(requestOf(head, "next")),
        (socket: Socket) => socket.end(requestOf(head, "x".repeat(300_000)))
      ]
      for (const leave of leaving) {
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
      const sockets: Array<Socket> = []
      server.on("connection", (socket: Socket) => sockets.push(socket))
      yield* Effect.promise(async () => {
        const client = await warmClient(port, head)
        const before = count.taken
        await client.write(requestOf(head, "hold"))
        while (held.length === 0) await pause(1)
        // As Node does it after an answer, for longer; before, a slow machine could close the connection too soon.
        sockets[0]!.setTimeout(40)
        await pause(130)
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
        const asked = got.length
        let sent = 0
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
