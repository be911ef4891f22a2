import { Lifecycle } from "#src/deployments/Lifecycle.ts"
import { Reconciler } from "#src/deployments/Reconciler.ts"
import { Servers } from "#src/servers/Servers.ts"
import { SqlClient } from "@effect/sql"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { hourly, setUp } from "./support/health.ts"
import { mcpImage } from "./support/mcp-image.ts"
import { longPlatformSuite } from "./support/platform.ts"

longPlatformSuite("a server that MCP let serve in place of its health path", (it) => {
  it.effect(
    "is alive by its 404 ever after: for the health score, a recovery, and a start",
    () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const lifecycle = yield* Lifecycle
        const reconciler = yield* Reconciler
        const { as, health, hour, release, server } = yield* setUp(false)
        const status = Effect.map(
          as(Effect.flatMap(Servers, (servers) => servers.get(server.id))),
          ({ status }) => status
        )
        const done = yield* release(yield* mcpImage("streamable", [], ["HEALTH=404"]))
        assert.deepInclude(done, { status: "running", admittedBy: "mcp" })
        yield* hour
        assert.include(yield* health, { score: 100, failures: 0 })
        yield* sql`UPDATE servers SET status = 'error' WHERE id = ${server.id}`
        yield* reconciler.sweep()
        assert.strictEqual(yield* status, "running")
        yield* as(lifecycle.stop(server.id))
        assert.strictEqual((yield* as(lifecycle.start(server.id))).status, "running")
        yield* sql`UPDATE deployments SET admitted_by = 'health' WHERE id = ${done.id}`
        assert.strictEqual((yield* as(lifecycle.restart(server.id))).status, "error")
        yield* sql`UPDATE servers SET status = 'running' WHERE id = ${server.id}`
        yield* hour
        assert.include((yield* health)?.lastFailure, "answered with status 404, not 200")
      }),
    60_000
  )
}, hourly)
