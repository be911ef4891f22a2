import { OAuthClients } from "#src/oauth/Clients.ts"
import { describe, expect, layer } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import { gzipSync } from "node:zlib"
import { full, long } from "../support/needs.ts"
import { type ClientHost, clientHost } from "./support/client-host.ts"
import { clientsTest } from "./support/clients.ts"

const resolve = (clientId: string) => Effect.flatMap(OAuthClients, (clients) => clients.resolve(clientId))
const refusal = (clientId: string) =>
  Effect.map(
    Effect.flip(resolve(clientId)),
    (error) => error._tag === "ClientMetadataError" ? error.reason : error._tag
  )

/** A client whose document was fetched, and what its host was asked from then on. */
const known = Effect.fnUntraced(function*(host: ClientHost, headers: Readonly<Record<string, string>>) {
  const id = host.newId()
  host.serve(host.document(id), headers)
  yield* resolve(id)
  const before = host.asked.length
  return { id, asked: () => host.asked.slice(before).map((request) => request.headers["if-none-match"] ?? "anew") }
})

layer(clientsTest)((it) => {
  describe("the host of a metadata document [row 17]", () => {
    it.scoped("is asked for JSON, without cookies or credentials, and its document makes the client", () =>
      Effect.gen(function*() {
        const host = yield* clientHost
        const id = host.newId()
        host.serve(host.document(id, { scope: "mcp:read  mcp:write" }))
        const client = yield* resolve(id)
        expect(client).toMatchObject({
          clientId: id,
          kind: "metadata",
          clientName: "Menu Reader",
          redirectUris: ["https://client.example/callback", "http://localhost/callback"],
          scope: "mcp:read mcp:write"
        })
        const [{ headers, method, url }] = host.asked as [ClientHost["asked"][number]]
        expect([method, `${host.origin}${url}`, headers.accept]).toEqual(["GET", id, "application/json"])
        for (const name of ["cookie", "authorization", "if-none-match", "referer"]) {
          expect(headers).not.toHaveProperty(name)
        }
      }))

    it.scoped("answers 200 and nothing else; where it redirects to is never asked", () =>
      Effect.gen(function*() {
        const host = yield* clientHost
        const id = host.newId()
        for (const status of [201, 204, 206, 301, 302, 303, 304, 307, 308, 400, 401, 404, 429, 500, 503]) {
          host.fail(status, { location: `${host.origin}/elsewhere` })
          expect(yield* refusal(id)).toBe(`its host answers ${status} instead of 200`)
        }
        expect(host.asked.map(({ url }) => url)).not.toContain("/elsewhere")
      }))

    it.scoped("sends JSON as such, in UTF-8, not compressed, of 5 KB at most", () =>
      Effect.gen(function*() {
        const host = yield* clientHost
        const id = host.newId()
        const text = JSON.stringify(host.document(id))
        const send = (body: string | Buffer, headers: Readonly<Record<string, string>>) => {
          host.answer = (_request, response) => void response.writeHead(200, headers).end(body)
        }
        for (const type of ["text/html", "text/plain", "application/javascript", "application/jsonp", ""]) {
          send(text, { "content-type": type })
          expect(yield* refusal(id)).toBe("its Content-Type is not JSON")
        }
        const json = { "content-type": "application/json" }
        send(gzipSync(text), { ...json, "content-encoding": "gzip" })
        expect(yield* refusal(id)).toBe("it is compressed")
        send(gzipSync(Buffer.alloc(10_000_000)), { ...json, "content-encoding": "gzip" })
        expect(yield* refusal(id)).toMatch(/compressed|more than 5120 bytes/)
        send(Buffer.from(text.replace("Menu", "M\u00e9nu"), "latin1"), json)
        expect(yield* refusal(id)).toBe("it is not UTF-8")
        send(text.padEnd(5121), json)
        expect(yield* refusal(id)).toMatch(/more than 5120 bytes/)
        send(text.padEnd(5120), json)
        expect((yield* resolve(id)).clientName).toBe("Menu Reader")
        const other = host.newId()
        send(JSON.stringify(host.document(other)), { "content-type": "application/oauth-client+json; charset=utf-8" })
        expect((yield* resolve(other)).clientId).toBe(other)
      }))

    it.scoped.skipIf(!full)(
      long("is not waited for longer than five seconds, however it dawdles"),
      () =>
        Effect.gen(function*() {
          const host = yield* clientHost
          host.answer = (_request, response) => {
            response.writeHead(200, { "content-type": "application/json" })
            const drip = setInterval(() => response.write(" "), 100)
            response.on("close", () => clearInterval(drip))
          }
          const started = Date.now()
          expect(yield* refusal(host.newId())).toMatch(/took longer than/)
          expect(Date.now() - started).toBeLessThan(8000)
        })
    )

    it.scoped("is not asked at all when the URL can't be an id, or leads into a private network", () =>
      Effect.gen(function*() {
        const host = yield* clientHost
        host.answer = (_request, response) => void response.writeHead(200).end("{}")
        const port = new URL(host.origin).port
        for (
          const id of [
            `http://localhost:${port}/a`,
            `https://127.0.0.1:${port}/../a`,
            `https://10.0.0.1:${port}/a`,
            `https://[::1]:${port}/a`,
            `https://[::ffff:127.0.0.1]:${port}/a`,
            `https://169.254.169.254/latest/meta-data`,
            `https://2130706433:${port}/a`,
            `https://user@127.0.0.1:${port}/a`
          ]
        ) {
          expect(yield* refusal(id), id).toEqual(expect.stringMatching(/its URL must|not on the public internet/))
        }
        expect(host.asked).toEqual([])
      }))
  })

  describe("a metadata document that was fetched [row 18]", () => {
    it.scoped("is used for a day when its host says nothing of caches, then asked for with its ETag", () =>
      Effect.gen(function*() {
        const host = yield* clientHost
        const { asked, id } = yield* known(host, { etag: "\"v1\"" })
        yield* TestClock.adjust("23 hours")
        yield* resolve(id)
        expect(asked()).toEqual([])
        yield* TestClock.adjust("61 minutes")
        host.fail(304)
        expect((yield* resolve(id)).clientName).toBe("Menu Reader")
        yield* TestClock.adjust("23 hours")
        yield* resolve(id)
        expect(asked()).toEqual(["\"v1\""])
      }))

    it.scoped("is used as long as its host says, but a day at most, and asked for anew without an ETag", () =>
      Effect.gen(function*() {
        const host = yield* clientHost
        const short = yield* known(host, { "cache-control": "max-age=60" })
        yield* TestClock.adjust("59 seconds")
        yield* resolve(short.id)
        expect(short.asked()).toEqual([])
        yield* TestClock.adjust("1 second")
        yield* resolve(short.id)
        expect(short.asked()).toEqual(["anew"])
        const long = yield* known(host, { "cache-control": "max-age=31536000", "etag": "W/\"v1\"" })
        yield* TestClock.adjust("24 hours")
        yield* resolve(long.id)
        expect(long.asked()).toEqual(["W/\"v1\""])
      }))

    it.scoped("is asked for each time under no-cache, and each time anew under no-store", () =>
      Effect.gen(function*() {
        const host = yield* clientHost
        const asking = yield* known(host, { "cache-control": "no-cache", "etag": "\"v1\"" })
        host.fail(304)
        yield* resolve(asking.id)
        yield* resolve(asking.id)
        expect(asking.asked()).toEqual(["\"v1\"", "\"v1\""])
        const fresh = yield* known(host, { "cache-control": "no-store", "etag": "\"v1\"" })
        yield* resolve(fresh.id)
        expect(fresh.asked()).toEqual(["anew"])
      }))

    it.scoped("keeps its lifetime when a 304 says nothing of it", () =>
      Effect.gen(function*() {
        const host = yield* clientHost
        const { asked, id } = yield* known(host, { "cache-control": "max-age=60", "etag": "\"v1\"" })
        host.fail(304)
        yield* TestClock.adjust("60 seconds")
        yield* resolve(id)
        yield* TestClock.adjust("59 seconds")
        yield* resolve(id)
        expect(asked()).toEqual(["\"v1\""])
        yield* TestClock.adjust("1 second")
        yield* resolve(id)
        expect(asked()).toEqual(["\"v1\"", "\"v1\""])
      }))

    it.scoped("can't be unchanged when we did not say which we have: a 304 is an error then", () =>
      Effect.gen(function*() {
        const host = yield* clientHost
        const { id } = yield* known(host, { "cache-control": "max-age=60" })
        yield* TestClock.adjust("60 seconds")
        host.fail(304)
        expect(yield* refusal(id)).toBe("its host answers 304 instead of 200")
      }))

    it.scoped("is not used when it is stale and its host can't be asked, or answers nonsense", () =>
      Effect.gen(function*() {
        const host = yield* clientHost
        const { asked, id } = yield* known(host, { "cache-control": "max-age=60", "etag": "\"v1\"" })
        yield* TestClock.adjust("60 seconds")
        host.fail(500)
        expect(yield* refusal(id)).toBe("its host answers 500 instead of 200")
        host.answer = (request) => void request.socket.destroy()
        expect(yield* refusal(id)).toMatch(/could not be reached/)
        host.serve({ ...host.document(id), redirect_uris: ["javascript:alert(1)"] }, { etag: "\"v2\"" })
        expect(yield* refusal(id)).toMatch(/^redirect_uris/)
        // Nothing of all this was remembered: the next try succeeds, on the document that we have.
        host.fail(304)
        expect((yield* resolve(id)).redirectUris).toHaveLength(2)
        expect(asked()).toEqual(["\"v1\"", "\"v1\"", "\"v1\"", "\"v1\""])
      }))

    it.scoped("is not remembered when it was an error from the first: the next try asks again", () =>
      Effect.gen(function*() {
        const host = yield* clientHost
        const id = host.newId()
        host.fail(503, { "cache-control": "max-age=3600" })
        expect(yield* refusal(id)).toMatch(/503/)
        host.serve({}, { "cache-control": "max-age=3600" })
        expect(yield* refusal(id)).toMatch(/client_id/)
        host.serve(host.document(id))
        expect((yield* resolve(id)).clientId).toBe(id)
        expect(host.asked).toHaveLength(3)
      }))

    it.scoped("shows a changed name and redirects when it is asked for again, and keeps when it was first seen", () =>
      Effect.gen(function*() {
        const host = yield* clientHost
        const id = host.newId()
        host.serve(host.document(id), { "cache-control": "max-age=60", "etag": "\"v1\"" })
        const first = yield* resolve(id)
        host.serve(host.document(id, { client_name: "Other", redirect_uris: ["https://other.example/"] }))
        yield* TestClock.adjust("60 seconds")
        const second = yield* resolve(id)
        expect(second).toMatchObject({ clientName: "Other", redirectUris: ["https://other.example/"] })
        expect(second.registeredAt).toEqual(first.registeredAt)
        expect(second.lastFetchedAt!.getTime() - first.lastFetchedAt!.getTime()).toBe(60_000)
      }))

    it.scoped("ignores an ETag that is none", () =>
      Effect.gen(function*() {
        const host = yield* clientHost
        for (const etag of ["v1", "\"v1", "\"a\"b\"", `"${"x".repeat(600)}"`]) {
          const { asked, id } = yield* known(host, { "cache-control": "no-cache", etag })
          yield* resolve(id)
          expect(asked(), etag).toEqual(["anew"])
        }
      }))
  })

  describe("many who wait for one document", () => {
    it.scoped("cost its host one request, and share its failure too", () =>
      Effect.gen(function*() {
        const host = yield* clientHost
        const id = host.newId()
        /** Twenty who wait, of whom nineteen come while the host is asked for the first; then it answers. */
        const twenty = Effect.fnUntraced(function*<A, E, R>(one: Effect.Effect<A, E, R>) {
          const held = host.hold()
          const first = yield* Effect.fork(one)
          yield* Effect.promise(() => held.arrived)
          const others = yield* Effect.forEach(Array.from({ length: 19 }), () => Effect.fork(one))
          yield* Effect.yieldNow()
          held.release()
          return yield* Fiber.join(Fiber.all([first, ...others]))
        })
        host.fail(500)
        expect([new Set(yield* twenty(refusal(id))).size, host.asked.length]).toEqual([1, 1])
        host.serve(host.document(id))
        expect([(yield* twenty(resolve(id))).length, host.asked.length]).toEqual([20, 2])
      }))

    it.scoped("still get it when the first of them has left", () =>
      Effect.gen(function*() {
        const host = yield* clientHost
        const id = host.newId()
        host.serve(host.document(id))
        const held = host.hold()
        const first = yield* Effect.fork(resolve(id))
        yield* Effect.promise(() => held.arrived)
        const second = yield* Effect.fork(resolve(id))
        yield* Effect.yieldNow()
        yield* Fiber.interrupt(first)
        held.release()
        expect((yield* Fiber.join(second)).clientId).toBe(id)
        expect(host.asked).toHaveLength(1)
      }))
  })
})
