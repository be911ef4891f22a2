import { type MachineAddress } from "#src/machines/Machines.ts"
import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { text } from "node:stream/consumers"
import { until as eventually } from "../deployments/support/wait.ts"
import {
  deploy,
  FakeMachines,
  gatewayServices,
  newServer,
  startGateway,
  startOtherGateway,
  startUpstream
} from "./support.ts"

interface Told {
  readonly name: string
  readonly session: string
  readonly url: string
  readonly method: string
  readonly jsonrpc: string
  readonly id: string | number | null
  readonly error: { readonly code: number }
}

/** A machine that tells what it got. It opens a session for whoever has none. */
const machine = (name: string) =>
  startUpstream((req, res) => {
    void text(req).then(() => {
      const session = req.headers["mcp-session-id"]
      const told = JSON.stringify({ name, session, url: req.url, method: req.method })
      res.writeHead(200, { "content-type": "application/json", "mcp-session-id": session ?? `of-${name}` }).end(told)
    })
  })

const setUp = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [one, other] = [yield* startGateway, yield* startOtherGateway]
  const server = yield* newServer({ machine: yield* machine("first") })
  const [row] = yield* sql`SELECT active_deployment_id AS id FROM servers WHERE id = ${server.id}`
  const first = String(row?.["id"])
  const versionOf = (id: string) =>
    Effect.map(sql`SELECT version FROM deployments WHERE id = ${id}`, ([row]) => Number(row?.["version"]))
  const ask = (at: { readonly port: number }, headers: Record<string, string> = {}, path = "/mcp", method = "POST") =>
    Effect.promise(async () => {
      const response = await fetch(`http://127.0.0.1:${at.port}${server.path}${path}`, {
        method,
        headers: { authorization: `Bearer ${server.token}`, ...headers },
        ...(method === "POST" ? { body: JSON.stringify({ jsonrpc: "2.0", id: "of-call", method: "ping" }) } : {})
      })
      const body = await response.json() as Partial<Told>
      return { status: response.status, session: response.headers.get("mcp-session-id"), body }
    })
  const drain = sql`UPDATE deployments SET drains_until = now() + interval '30 seconds' WHERE id = ${first}`
  const replace = (by: MachineAddress) => Effect.zipRight(drain, deploy(server.id, by))
  /** Told as the pipeline tells it. */
  const drained = sql`WITH ended AS (UPDATE deployments SET drains_until = NULL WHERE id = ${first})
    UPDATE servers SET updated_at = now() WHERE id = ${server.id}`
  /** Until a gateway has heard of the change. */
  const until = (at: { readonly port: number }, name: string, headers?: Record<string, string>) =>
    eventually(ask(at, headers), ({ body }) => body.name === name)
  return { sql, one, other, server, first, versionOf, ask, replace, drained, until }
})

layer(gatewayServices(), { excludeTestServices: true })("a session", (it) => {
  it.scoped("stays with the machine that opened it, at every gateway; what has none goes to the new machine", () =>
    Effect.gen(function*() {
      const { ask, drained, first, one, other, replace, until, versionOf } = yield* setUp
      const opened = yield* ask(one)
      const version = yield* versionOf(first)
      assert.deepStrictEqual([opened.body.session, opened.session], [undefined, `of-first~v${version}`])
      const own = { "mcp-session-id": opened.session ?? "" }
      const second = yield* replace(yield* machine("second"))
      for (const at of [one, other]) {
        yield* until(at, "second")
        for (const method of ["POST", "GET", "DELETE"]) {
          const { body, session, status } = yield* ask(at, own, "/mcp", method)
          assert.deepInclude(body, { name: "first", session: "of-first", method })
          assert.deepStrictEqual([status, session], [200, opened.session])
        }
        // As a client of the older transport sends, and with more in the query.
        const { body } = yield* ask(at, {}, `/message?a=1&berth-version=${version}&sessionId=2`)
        assert.deepInclude(body, { name: "first", url: "/message?a=1&sessionId=2" })
      }
      const next = yield* ask(other)
      assert.strictEqual(next.session, `of-second~v${yield* versionOf(second)}`)
      // Handed out before ids were tagged: whoever serves now may know it.
      assert.deepInclude((yield* ask(one, { "mcp-session-id": "old" })).body, { name: "second", session: "old" })

      yield* drained
      for (const at of [one, other]) {
        const gone = yield* eventually(ask(at, own), ({ status }) => status === 404)
        assert.deepInclude(gone.body, { jsonrpc: "2.0", id: "of-call" })
        assert.strictEqual((yield* ask(at, own, "/mcp", "GET")).body.id, null)
        assert.strictEqual(gone.body.error?.code, -32001)
        assert.strictEqual((yield* ask(at, {}, `/message?berth-version=${version}`)).status, 404)
        assert.strictEqual((yield* ask(at, { "mcp-session-id": next.session ?? "" })).body.name, "second")
      }
    }))

  it.scoped("of a version that a gateway has not heard of is found, and of one that never was is not", () =>
    Effect.gen(function*() {
      const { ask, one, replace, server, sql, until, versionOf } = yield* setUp
      yield* until(one, "first")
      // The gateway hears nothing of this change.
      yield* sql`ALTER TABLE servers DISABLE TRIGGER server_changed`
      const second = yield* replace(yield* machine("second"))
      yield* sql`ALTER TABLE servers ENABLE TRIGGER server_changed`
      const version = yield* versionOf(second)
      assert.strictEqual((yield* ask(one)).body.name, "first")
      assert.strictEqual((yield* ask(one, { "mcp-session-id": `x~v${version}` })).body.name, "second")
      // Of another server, of none, and more than a version can be.
      const foreign = yield* newServer({ machine: yield* machine("foreign") })
      const [row] = yield* sql`SELECT max(version) AS version FROM deployments WHERE server_id = ${foreign.id}`
      for (const odd of [String(row?.["version"]), "1000000", "9999999999"]) {
        assert.strictEqual((yield* ask(one, { "mcp-session-id": `x~v${odd}` })).status, 404, odd)
      }
      // A server that was stopped says so, to old sessions too.
      yield* sql`UPDATE servers SET status = 'stopped' WHERE id = ${server.id}`
      const { addresses } = yield* FakeMachines
      addresses.delete(second)
      const stopped = yield* eventually(ask(one, { "mcp-session-id": "x~v1000000" }), ({ status }) => status === 503)
      assert.include(JSON.stringify(stopped.body), "stopped")
    }))

  it.scoped("is gone with the run of the machine that opened it, and the next one is named by its run", () =>
    Effect.gen(function*() {
      const { ask, first, one, other, server, sql, versionOf } = yield* setUp
      const opened = yield* ask(one)
      const own = { "mcp-session-id": opened.session ?? "" }
      yield* sql`UPDATE deployments SET starts = 1, active = true WHERE id = ${first}`
      assert.strictEqual((yield* ask(other, own)).status, 200)
      yield* sql`UPDATE deployments SET starts = starts + 1 WHERE id = ${first}`
      const version = yield* versionOf(first)
      for (const at of [one, other]) {
        const gone = yield* eventually(ask(at, own), ({ status }) => status === 404)
        assert.strictEqual(gone.body.error?.code, -32001)
        assert.strictEqual((yield* ask(at, {}, `/message?berth-version=${version}`)).status, 404)
        const next = yield* ask(at)
        assert.strictEqual(next.session, `of-first~v${version}.2`)
        assert.deepInclude((yield* ask(at, { "mcp-session-id": next.session ?? "" })).body, { session: "of-first" })
      }
      // Handed out by a gateway that heard of a start before this one did.
      yield* sql`ALTER TABLE deployments DISABLE TRIGGER machine_started`
      yield* sql`UPDATE deployments SET starts = starts + 1 WHERE id = ${first}`
      yield* sql`ALTER TABLE deployments ENABLE TRIGGER machine_started`
      assert.strictEqual((yield* ask(one, { "mcp-session-id": `x~v${version}.3` })).body.session, "x")
      // It drains under the name of its run.
      yield* sql`UPDATE deployments SET drains_until = now() + interval '30 seconds' WHERE id = ${first}`
      yield* deploy(server.id, yield* machine("second"))
      yield* eventually(ask(other), ({ body }) => body.name === "second")
      assert.strictEqual((yield* ask(other, { "mcp-session-id": `x~v${version}.3` })).body.name, "first")
      assert.strictEqual((yield* ask(other, own)).status, 404)
    }))

  it.scoped("is 404 too where its machine is gone before the gateway has heard of it", () =>
    Effect.gen(function*() {
      const { ask, first, one, replace, sql, until, versionOf } = yield* setUp
      const dead: MachineAddress = { _tag: "Unix", path: "/nowhere/at/all.s" }
      yield* replace(yield* machine("second"))
      const { addresses } = yield* FakeMachines
      addresses.set(first, dead)
      yield* until(one, "second")
      yield* sql`UPDATE deployments SET drains_until = NULL WHERE id = ${first}`
      const gone = yield* ask(one, { "mcp-session-id": `x~v${yield* versionOf(first)}` })
      assert.deepStrictEqual([gone.status, gone.body.error?.code, gone.body.id], [404, -32001, "of-call"])
    }))

  it.scoped("counts until a client ends it, whichever gateways those were", () =>
    Effect.gen(function*() {
      const { ask, first, one, other, sql } = yield* setUp
      const open = Effect.map(
        sql`SELECT (opened - closed)::int AS open FROM mcp_sessions WHERE deployment_id = ${first}`,
        ([row]) => Number(row?.["open"] ?? 0)
      )
      const reaches = (count: number) => eventually(open, (now) => now === count)
      const sessions = [yield* ask(one), yield* ask(other), yield* ask(other)].map(({ session }) => session ?? "")
      yield* reaches(3)
      for (const [at, session] of [[other, sessions[0]], [one, sessions[1]]] as const) {
        yield* ask(at, { "mcp-session-id": session ?? "" })
        yield* ask(at, { "mcp-session-id": session ?? "" }, "/mcp", "DELETE")
      }
      yield* reaches(1)
    }))
})
