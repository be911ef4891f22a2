import { AccessTokens } from "#src/oauth/AccessTokens.ts"
import { allMcpScopes } from "#src/oauth/scopes/scopes.ts"
import { monthOf } from "#src/usage/month.ts"
import { RequestMetering } from "#src/usage/RequestMetering.ts"
import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import {
  gatewayServices,
  newAccount,
  newServer,
  rawRequest,
  startGateway,
  startOtherGateway,
  startUpstream,
  statusOf
} from "./support.ts"

const setUp = Effect.gen(function*() {
  const tokens = yield* AccessTokens
  const { port } = yield* startGateway
  const { port: other } = yield* startOtherGateway
  const machine = yield* startUpstream((req, res) => void req.resume().on("end", () => res.writeHead(202).end()))
  const server = yield* newServer({ machine, plan: "free" })
  const tokenOf = (accountId: string, clientId = "one") =>
    Effect.map(
      tokens.mint({ accountId, audience: server.audience, scope: allMcpScopes, clientId, serverId: server.id }),
      ({ token }) => token
    )
  const send = (token: string, at = port) =>
    rawRequest(
      at,
      "POST",
      server.path,
      ["Host: b", `Authorization: Bearer ${token}`, "Content-Type: application/json", "Content-Length: 47"],
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/test\"}"
    )
  const statusesOf = (token: string, count: number) =>
    Effect.map(
      Effect.all(Array.from({ length: count }, () => send(token)), { concurrency: 16 }),
      (answers) => answers.map(statusOf)
    )
  const set = (fields: Readonly<Record<string, number | null>>) =>
    Effect.zipRight(
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`UPDATE servers SET ${sql.update(fields)} WHERE id = ${server.id}`
      ),
      Effect.sleep("1200 millis")
    )
  return { ...server, other, send, set, statusesOf, tokenOf }
})

const countOf = (statuses: ReadonlyArray<number>, status: number) => statuses.filter((one) => one === status).length
const errorOf = (answer: string) => JSON.parse(answer.slice(answer.indexOf("\r\n\r\n"))).error

layer(gatewayServices(), { excludeTestServices: true })("a caller who is not the owner", (it) => {
  it.scoped("has 60 requests a minute on a server, whatever its tokens and doors, and others have their own", () =>
    Effect.gen(function*() {
      const { accountId, other, send, statusesOf, token, tokenOf } = yield* setUp
      const [guest, second] = [yield* newAccount(), yield* newAccount()]
      const statuses = yield* statusesOf(yield* tokenOf(guest), 70)
      assert.deepStrictEqual([countOf(statuses, 202), countOf(statuses, 429)], [60, 10])
      const refused = yield* send(yield* tokenOf(guest, "another"), other)
      assert.strictEqual(statusOf(refused), 429, "another client's token, through another gateway")
      const { code, details, message } = errorOf(refused)
      const seconds = Number(/^retry-after: (\d+)/im.exec(refused)?.[1])
      assert.deepStrictEqual([code, details.limit, details.allowed], ["RATE_LIMITED", "guestRequestsPerMinute", 60])
      assert.match(
        message,
        /^The server takes 60 requests a minute from one account; try again in \d+ seconds, or ask its owner/
      )
      assert.isTrue(seconds > 0 && seconds <= 60, `${seconds}`)
      assert.match(refused, /^x-ratelimit-limit: 60\r$/im)
      assert.deepStrictEqual(new Set(yield* statusesOf(yield* tokenOf(second), 5)), new Set([202]))
      assert.deepStrictEqual(new Set(yield* statusesOf(token, 80)), new Set([202]), "the owner's own are outside")
      yield* Effect.flatMap(RequestMetering, ({ flush }) => flush)
      const sql = yield* SqlClient.SqlClient
      const [used] = yield* sql`SELECT request_count::int AS count FROM usage WHERE account_id = ${accountId}`
      assert.deepStrictEqual(used, { count: 60 + 5 + 80 }, "all count in the month, notifications too")
    }))

  it.scoped("has a tenth of the owner's month, until the next one", () =>
    Effect.gen(function*() {
      const { id, send, set, statusesOf, token, tokenOf } = yield* setUp
      const guest = yield* newAccount()
      yield* set({ guestRequestsPerMinute: null })
      const sql = yield* SqlClient.SqlClient
      const period = monthOf(Date.now()).start
      yield* sql`INSERT INTO guest_requests ${sql.insert({ serverId: id, guest, period, periodCount: 990 })}`
      const statuses = yield* statusesOf(yield* tokenOf(guest), 20)
      assert.deepStrictEqual([countOf(statuses, 202), countOf(statuses, 429)], [10, 10])
      const refused = yield* send(yield* tokenOf(guest))
      const { end } = monthOf(Date.now())
      const { code, details } = errorOf(refused)
      assert.deepStrictEqual([code, details], ["RATE_LIMITED", {
        limit: "guestMonthPercent",
        allowed: 1_000,
        resetsAt: end.toISOString()
      }])
      assert.closeTo(Number(/^retry-after: (\d+)/im.exec(refused)?.[1]), (end.getTime() - Date.now()) / 1000, 5)
      assert.strictEqual(statusOf(yield* send(token)), 202, "the owner's own are outside")
      yield* set({ guestMonthPercent: 20 })
      assert.strictEqual(statusOf(yield* send(yield* tokenOf(guest))), 202, "the owner's setting counts at once")
      yield* sql`UPDATE guest_requests SET period = period - interval '31 days', period_count = 9000`
      yield* set({ guestMonthPercent: 10 })
      assert.strictEqual(statusOf(yield* send(yield* tokenOf(guest))), 202, "a new period")
    }))

  it.scoped("may keep the server awake for a tenth of the owner's machine time, until the next month", () =>
    Effect.gen(function*() {
      const { id, send, set, token, tokenOf } = yield* setUp
      const sql = yield* SqlClient.SqlClient
      const guest = yield* newAccount()
      // Another minute each time: what was taken ahead asks nothing.
      const sendAfter = (seconds: number, change = {}) =>
        Effect.gen(function*() {
          const ago = sql`interval '1 second' * ${seconds}::int`
          yield* sql`UPDATE guest_requests SET last_taken = last_taken - ${ago}, minute_start = minute_start - ${ago}`
          yield* set({ guestRequestsPerMinute: 1_000 + seconds, ...change })
          return yield* send(yield* tokenOf(guest))
        })
      const spent = Effect.map(
        sql<{ seconds: number }>`SELECT period_seconds::int AS seconds FROM guest_requests WHERE server_id = ${id}`,
        ([row]) => row!.seconds
      )
      assert.strictEqual(statusOf(yield* sendAfter(0)), 202)
      assert.strictEqual(yield* spent, 0, "the first one")
      assert.strictEqual(statusOf(yield* sendAfter(100)), 202)
      assert.closeTo(yield* spent, 101, 2, "as long as it was")
      assert.strictEqual(statusOf(yield* sendAfter(5_000)), 202)
      assert.closeTo(yield* spent, 401, 3, "until the server fell asleep")
      yield* sql`UPDATE guest_requests SET period_seconds = 9800`
      const refused = yield* sendAfter(299)
      const { end } = monthOf(Date.now())
      const { code, details, message } = errorOf(refused)
      assert.deepStrictEqual([statusOf(refused), code, details], [429, "RATE_LIMITED", {
        limit: "guestMonthPercent",
        allowed: 10_000,
        resetsAt: end.toISOString()
      }])
      assert.strictEqual(
        message,
        "The server runs 10000 seconds a month for one account, 10 % of its owner's, and they are used up: wait until " +
          `${end.toISOString()}, or ask its owner for more (guestMonthPercent)`
      )
      assert.closeTo(Number(/^retry-after: (\d+)/im.exec(refused)?.[1]), (end.getTime() - Date.now()) / 1000, 5)
      assert.strictEqual(yield* spent, 9_800, "what is refused wakes nothing")
      assert.strictEqual(statusOf(yield* send(token)), 202, "the owner's own are outside")
      assert.strictEqual(statusOf(yield* sendAfter(301, { autoStopSeconds: null })), 202, "the server never sleeps")
      assert.strictEqual(statusOf(yield* sendAfter(302, { autoStopSeconds: 300 })), 429)
      assert.strictEqual(statusOf(yield* sendAfter(303, { guestMonthPercent: 100 })), 202, "all of the owner's")
      assert.strictEqual(statusOf(yield* sendAfter(304, { guestMonthPercent: 10 })), 429)
      yield* sql`UPDATE guest_requests SET period = period - interval '31 days'`
      assert.strictEqual(statusOf(yield* sendAfter(305)), 202, "a new period")
      assert.strictEqual(yield* spent, 0)
    }))

  it.scoped("is an address where the platform checks no tokens", () =>
    Effect.gen(function*() {
      const { port } = yield* startGateway
      const machine = yield* startUpstream((_, res) => void res.end())
      const url = "https://auth.example.com"
      const byoa = { issuer: url, jwksUri: url, authorizationEndpoint: url, tokenEndpoint: url }
      const { path } = yield* newServer({ machine, byoa })
      const ask = (token: number) =>
        rawRequest(port, "GET", path, ["Host: b", `Authorization: Bearer made-up-${token}`])
      const answers = yield* Effect.all(Array.from({ length: 70 }, (_, i) => ask(i)), { concurrency: 16 })
      assert.strictEqual(countOf(answers.map(statusOf), 200), 60)
      assert.match(errorOf(yield* ask(0)).message, /from one address/)
    }))
})
