import { AccessTokens } from "#src/oauth/AccessTokens.ts"
import { allMcpScopes } from "#src/oauth/scopes/scopes.ts"
import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { gzipSync } from "node:zlib"
import { requestOf, startListener, warmClient } from "./repeats-support.ts"
import { gatewayServices, newAccount, newServer, rawRequest, startGateway, startUpstream, statusOf } from "./support.ts"

const setUp = Effect.gen(function*() {
  const tokens = yield* AccessTokens
  const { port } = yield* startGateway
  const heard: Array<string> = []
  const machine = yield* startUpstream((req, res) => {
    let body = ""
    req.setEncoding("latin1").on("data", (part: string) => body += part).on("end", () => {
      heard.push(body)
      res.end("heard")
    })
    req.on("error", () => undefined)
    heard.push(req.method ?? "")
  })
  const server = yield* newServer({ machine })
  const path = `${server.path}/mcp`
  const guest = yield* newAccount()
  const tokenOf = (accountId: string, scope: string = allMcpScopes) =>
    Effect.map(
      tokens.mint({ accountId, audience: server.audience, scope, clientId: "one", serverId: server.id }),
      ({ token }) => token
    )
  const guestToken = yield* tokenOf(guest)
  const post = (body: string, token = guestToken, headers: ReadonlyArray<string> = []) =>
    rawRequest(
      port,
      "POST",
      path,
      [
        "Host: b",
        `Authorization: Bearer ${token}`,
        "Content-Type: application/json",
        `Content-Length: ${body.length}`,
        ...headers
      ],
      body
    )
  /** Each part on its own. */
  const chunked = (parts: ReadonlyArray<string>, token = guestToken) =>
    rawRequest(
      port,
      "POST",
      path,
      ["Host: b", `Authorization: Bearer ${token}`, "Content-Type: application/json", "Transfer-Encoding: chunked"],
      [...parts, ""].map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join("")
    )
  /** What the machine has heard since the last time. */
  const heardNow = () => heard.splice(0)
  return { ...server, path, chunked, guest, guestToken, heardNow, port, post, tokenOf }
})

const call = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "cost" } })
const batch = `[${call},${call}]`
const largeBatch = `[${Array.from({ length: 2_000 }, () => call).join(",")}]`
const largeCall = call.replace("cost", "c".repeat(200_000))

const bodyOf = (answer: string) => JSON.parse(answer.slice(answer.indexOf("\r\n\r\n")))

layer(gatewayServices(), { excludeTestServices: true })("a guest's batch", (it) => {
  it.scoped("is refused, small or large, whole or in parts, after white space too, and its machine sees nothing", () =>
    Effect.gen(function*() {
      const { chunked, heardNow, post } = yield* setUp
      const utf16 = Buffer.from(`\ufeff ${batch}`, "utf16le").toString("latin1")
      const answers = [
        yield* post(batch),
        yield* post(` \r\n\t${batch}`),
        yield* post(largeBatch),
        yield* post(" ".repeat(1_000) + largeBatch),
        yield* post(" ".repeat(70_000) + call),
        yield* post(utf16),
        yield* post(`+AFs-${batch.slice(1)}`),
        yield* chunked([batch]),
        yield* chunked([" ", "\n", "[", batch.slice(1)]),
        yield* chunked([largeBatch.slice(0, 1), largeBatch.slice(1)]),
        yield* chunked([" ".repeat(2_000), batch])
      ]
      for (const answer of answers) {
        assert.strictEqual(statusOf(answer), 400)
        assert.deepStrictEqual(bodyOf(answer), {
          jsonrpc: "2.0",
          id: null,
          error: {
            code: -32600,
            message: "A guest sends each message by itself, and nothing before it: batches ended with MCP 2025-06-18"
          }
        })
      }
      const zipped = yield* post(gzipSync(batch).toString("latin1"), undefined, ["Content-Encoding: gzip"])
      assert.deepStrictEqual([statusOf(zipped), bodyOf(zipped).error.code], [415, "UNSUPPORTED_MEDIA_TYPE"])
      assert.deepStrictEqual(heardNow(), [])
    }))

  it.scoped("counts as a request", () =>
    Effect.gen(function*() {
      const { guest, id, post } = yield* setUp
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE servers SET guest_requests_per_minute = 2 WHERE id = ${id}`
      yield* Effect.sleep("1200 millis")
      const statuses = [yield* post(batch), yield* post(batch), yield* post(batch), yield* post(call)].map(statusOf)
      assert.deepStrictEqual(statuses, [400, 400, 429, 429])
      const [row] = yield* sql`SELECT period_count::int AS count FROM guest_requests WHERE guest = ${guest}`
      assert.deepStrictEqual(row, { count: 2 })
    }))

  it.scoped("is refused where the token's scopes are looked at, and where the head was there before", () =>
    Effect.gen(function*() {
      const { guest, guestToken, heardNow, path, post, tokenOf } = yield* setUp
      const narrow = yield* tokenOf(guest, "mcp:read mcp:execute")
      assert.strictEqual(statusOf(yield* post(batch, narrow)), 400)
      const lacking = yield* tokenOf(guest, "mcp:read")
      const lists = batch.replaceAll("tools/call", "tools/list")
      assert.strictEqual(statusOf(yield* post(lists, lacking)), 400)
      assert.deepStrictEqual(heardNow(), [])
      const { count, port } = yield* startListener()
      const head = [`POST ${path} HTTP/1.1`, "Host: b", `Authorization: Bearer ${guestToken}`].join("\r\n")
      const client = yield* Effect.promise(() => warmClient(port, head))
      const before = count.taken
      heardNow()
      yield* Effect.promise(async () => {
        await client.write(requestOf(head, batch))
        await client.until(1)
        assert.isAbove(count.taken, before)
        await client.write(requestOf(head, call))
        const [refused, passed] = await client.until(2)
        assert.match(refused ?? "", /-32600/)
        assert.match(passed ?? "", /heard$/)
      })
      client.socket.destroy()
      assert.deepStrictEqual(heardNow(), ["POST", call])
    }))

  it.scoped("is all that is refused: its messages pass, and so does the owner's batch", () =>
    Effect.gen(function*() {
      const { chunked, heardNow, post, token } = yield* setUp
      const passed = [call, `\n ${call}`, largeCall, ` ${largeCall}`]
      for (const body of passed) {
        assert.strictEqual(statusOf(yield* post(body)), 200)
        assert.deepStrictEqual(heardNow(), ["POST", body])
        assert.strictEqual(statusOf(yield* chunked([" ", body.slice(0, 9), body.slice(9)])), 200)
        assert.deepStrictEqual(heardNow(), ["POST", ` ${body}`])
      }
      for (const body of ["", "  "]) {
        assert.strictEqual(statusOf(yield* post(body)), 200)
        assert.strictEqual(statusOf(yield* chunked(body === "" ? [] : [body])), 200)
        assert.deepStrictEqual(heardNow(), ["POST", body, "POST", body])
      }
      for (const body of [batch, ` ${batch}`, largeBatch]) {
        assert.strictEqual(statusOf(yield* post(body, token)), 200)
        assert.strictEqual(statusOf(yield* chunked([body], token)), 200)
        assert.deepStrictEqual(heardNow(), ["POST", body, "POST", body])
      }
      const zipped = gzipSync(batch).toString("latin1")
      assert.strictEqual(statusOf(yield* post(zipped, token, ["Content-Encoding: gzip"])), 200)
    }))
})
