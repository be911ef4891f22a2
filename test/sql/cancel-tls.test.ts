import { clientLayer } from "#sql/Client.ts"
import { SqlClient } from "@effect/sql"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Redacted, Schedule } from "effect"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { join } from "node:path"
import { TLSSocket } from "node:tls"
import { freshDatabaseUrl } from "../support/Database.ts"
import { describeWhen, missingProgram } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { holdLock, runSql } from "../support/sql.ts"

const sslRequest = 80877103

/** A way to the database for those who ask for TLS first, as PostgreSQL's protocol has it; others are cut off. */
const throughTls = (url: URL, key: Buffer, cert: Buffer) =>
  createServer((socket) => {
    socket.on("error", () => undefined).once("data", (asked) => {
      if (asked.readInt32BE(4) !== sslRequest) return socket.destroy()
      socket.write("S")
      const [host, port] = [url.searchParams.get("host") ?? url.hostname, url.searchParams.get("port") ?? url.port]
      const database: Socket = host.startsWith("/") ? connect(`${host}/.s.PGSQL.${port}`) : connect(Number(port), host)
      const secure = new TLSSocket(socket, { isServer: true, key, cert })
      secure.on("error", () => database.destroy()).pipe(database)
      database.on("error", () => secure.destroy()).pipe(secure)
    })
  })

describeWhen(missingProgram("openssl"), "a database that is reached through TLS", () => {
  it.scopedLive("is told through TLS, too, what nobody waits for", () =>
    Effect.gen(function*() {
      const folder = temporaryDirectory("certificate")
      const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")]
      const how = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=database"
      const names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate]
      execFileSync("openssl", [...how.split(" "), ...names], { stdio: "ignore" })

      const url = yield* freshDatabaseUrl
      const server = throughTls(new URL(url), readFileSync(key), readFileSync(certificate))
      yield* Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening"))
      yield* Effect.addFinalizer(() => Effect.sync(() => server.close()))
      const way = new URL(url)
      way.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
      way.search = `?sslmode=verify-full&sslrootcert=${certificate}`

      const letGo = yield* Effect.promise(() => holdLock(url, "SELECT pg_advisory_xact_lock($1)", [1]))
      yield* Effect.addFinalizer(() => Effect.promise(letGo))
      const waiting = Effect.promise(async () =>
        (await runSql(
          url,
          "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )).length
      )
      yield* Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const fiber = yield* Effect.fork(sql`SELECT pg_advisory_xact_lock(1)`)
        yield* Effect.repeat(waiting, { until: (now) => now === 1, schedule: Schedule.spaced("10 millis") })
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(yield* sql`SELECT 1 AS n`, [{ n: 1 }])
        assert.strictEqual(yield* waiting, 0)
      }).pipe(Effect.provide(clientLayer(Redacted.make(way.href), 1)))
    }))
})
