import { advice, exited, type Probe, refusesHost } from "#src/deployments/health.ts"
import { remindingEvery } from "#src/deployments/reminders.ts"
import { listenersIn } from "#src/machines/sandbox/listening.ts"
import { requiresMcp } from "#src/servers/requires-mcp.ts"
import { Chunk, Effect, FastCheck as fc, Fiber, Stream, TestClock, TestContext } from "effect"
import { assert, describe, it } from "vitest"

const refused: Probe = { _tag: "NotListening", why: "connection refused" }
const ports = fc.array(fc.integer({ min: 1, max: 65_535 }), { maxLength: 9 })

describe("why a machine may not serve", () => {
  it("names the ports that it listens on, and wraps only what listens nowhere", () => {
    fc.assert(fc.property(ports, (listening) => {
      const said = advice("/healthz", refused, 8080, listening, "image")
      assert.strictEqual(said.includes("stdio"), listening.length === 0)
      assert.strictEqual(said.includes("instead"), listening.length > 0 && !listening.includes(8080))
      if (said.includes("instead")) assert.include(said, String(listening[0]))
    }))
  })

  it("tells a refused Host from another refusal", () => {
    assert.isTrue(refusesHost(403, "Invalid Host header"))
    assert.isTrue(refusesHost(400, "DisallowedHost: no such host"))
    assert.isTrue(refusesHost(421, ""))
    assert.isFalse(refusesHost(403, "a ghost"))
    assert.isFalse(refusesHost(500, "host"))
    assert.include(
      advice("/healthz", { _tag: "Answered", status: 400, body: "bad host" }, 9, [], "image"),
      "localhost:9"
    )
    assert.notInclude(
      advice("/healthz", { _tag: "Answered", status: 500, body: "host" }, 9, [], "image"),
      "localhost:9"
    )
  })

  it("says of a package that its program does not serve HTTP, and never to deploy it as a package", () => {
    const silent: Probe = { _tag: "NotListening", why: "connection refused" }
    for (
      const said of [
        advice("/healthz", silent, 8080, [], "http"),
        exited("/healthz", 0, "", { listened: false, speaks: "http" })
      ]
    ) {
      assert.include(said, "leave transport out")
      assert.notInclude(said, "deploy its package")
    }
  })

  it("says what to do about a 200 that is not JSON", () => {
    const said = advice("/healthz", { _tag: "Answered", status: 200, body: "OK" }, 8080, [], "image")
    assert.include(said, "answered 200, but the body is not JSON: let it answer JSON, or set the server's healthPath")
  })

  it("says of another health path alone what to set", () => {
    const notFound: Probe = { _tag: "Answered", status: 404, body: "" }
    assert.strictEqual(advice("/healthz", notFound, 8080, [], "image"), "answered with status 404, not 200")
    assert.include(advice("/ready", notFound, 8080, [], "image"), "set the server's healthPath")
  })

  it("takes an end for that of a stdio program only where it was a good one and nothing listened", () => {
    fc.assert(
      fc.property(fc.option(fc.integer({ min: 0, max: 255 })), fc.boolean(), fc.string(), (code, listened, words) => {
        const said = exited("/healthz", code, words, { listened, speaks: "image" })
        if (!words.includes("stdio")) assert.strictEqual(said.includes("stdio"), code === 0 && !listened)
        assert.isBelow(said.length, 1_000)
      })
    )
  })
})

describe("whether a server must speak MCP", () => {
  const uri = fc.oneof(
    fc.constantFrom("npm:@scope/name@1.2.3", "pypi:name==1.2.3", "oci:/x", "registry/npm:1", "NPM:x"),
    fc.string()
  )
  it("is the owner's word, else its package's or its business's", () => {
    fc.assert(
      fc.property(
        fc.option(fc.boolean()),
        fc.option(uri),
        fc.boolean(),
        (requireMcp, imageUri, isOfPublishedBusiness) => {
          const isPackage = imageUri !== null && (imageUri.startsWith("npm:") || imageUri.startsWith("pypi:"))
          const expected = requireMcp === null ? isPackage || isOfPublishedBusiness : requireMcp
          assert.strictEqual(requiresMcp({ requireMcp, imageUri, isOfPublishedBusiness }), expected)
        }
      )
    )
  })
})

describe("the kernel's table of sockets", () => {
  const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1234 1 0 100 0 0 10 0
   1: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 1235 1 0 20 4 30 10 -1
   2: 00000000000000000000000001000000:0BB8 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 99 1`
  it("has those that listen, of either family", () => {
    assert.deepStrictEqual(listenersIn(table), [{ port: 8080, inode: "1234" }, { port: 3000, inode: "99" }])
  })
  it("is never misread into a failure", () => {
    fc.assert(fc.property(fc.string(), (text) => Array.isArray(listenersIn(text))))
  })
})

describe("what is reported to who waits", () => {
  const run = (steps: Stream.Stream<{ readonly message: string }>) =>
    Effect.gen(function*() {
      const fiber = yield* Effect.fork(Stream.runCollect(remindingEvery(5)(steps)))
      yield* TestClock.adjust("60 seconds")
      return Chunk.toReadonlyArray(yield* Fiber.join(fiber)).map(({ message }) => message)
    }).pipe(Effect.provide(TestContext.TestContext), Effect.runPromise)
  const after = (seconds: number, message: string) =>
    Stream.fromEffect(Effect.delay(Effect.succeed({ message }), seconds * 1_000))

  it("is repeated while nothing follows, and not where something does", async () => {
    const told = await run(Stream.concat(after(1, "one"), Stream.concat(after(17, "two"), after(3, "three"))))
    assert.deepStrictEqual(told, ["one", "one (for 5 s)", "one (for 10 s)", "two", "three"])
  })
})
