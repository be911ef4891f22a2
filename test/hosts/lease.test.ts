import { type Host } from "#src/hosts/Host.ts"
import { HostLease, HostLeaseLive, LeaseTimes } from "#src/hosts/HostLease.ts"
import { isProvablyGone, thisProcess } from "#src/hosts/this-process.ts"
import { Secrets } from "#src/shared/Secrets.ts"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { spawnSync } from "node:child_process"
import { DatabaseTest } from "../support/Database.ts"
import { full, long } from "../support/needs.ts"
import { settingsTest, temporaryDirectory } from "../support/Settings.ts"

/** A process of a host, as far as the lease goes, until its scope closes. */
const host = (home: string, times = { lease: 30, renewEvery: 5 }) =>
  HostLeaseLive.pipe(
    Layer.provide(Secrets.Default),
    Layer.provide(settingsTest({ BERTH_HOME: home })),
    Layer.provide(Layer.succeed(LeaseTimes, times))
  )

const begun = (home: string, times?: { readonly lease: number; readonly renewEvery: number }) =>
  Effect.map(Layer.build(Layer.fresh(host(home, times))), Context.get(HostLease))

const refusal = (home: string) => Effect.flip(Effect.scoped(begun(home)))
const homes = Effect.sync(() => [temporaryDirectory(), temporaryDirectory()] as const)
const leases = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT id FROM hosts`)

/** A process that has ended. */
const deadPid = () => spawnSync("true").pid

describe("the lease of a host", () => {
  it.live("is refused to a second host while the first one's runs, with a sentence that names that one", () =>
    Effect.gen(function*() {
      const [first, second] = yield* homes
      const { id } = yield* begun(first)
      const error = yield* refusal(second)
      assert.strictEqual(error._tag, "LeaseError")
      assert.match(
        error.message,
        new RegExp(
          `^Another berth serves this installation: ${id} on \\S+ \\(process ${process.pid}\\) has served it since ` +
            "\\S+Z, by a lease until \\S+Z\\. Stop it, or wait until its lease has ended$"
        )
      )
    }).pipe(Effect.scoped, Effect.provide(DatabaseTest)))

  it.live("is refused to a second process of the same home, too, and given back at the end", () =>
    Effect.gen(function*() {
      const [home] = yield* homes
      const id = yield* Effect.scoped(Effect.zipRight(refusalOf(home), Effect.map(begun(home), ({ id }) => id)))
      assert.lengthOf(yield* leases, 0)
      assert.strictEqual((yield* begun(home)).id, id, "the home keeps its id")
    }).pipe(Effect.scoped, Effect.provide(DatabaseTest)))

  it.live("goes to one of many that start at once", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const starts = Array.from({ length: 6 }, () => Effect.either(Scope.extend(begun(temporaryDirectory()), scope)))
      const outcomes = yield* Effect.all(starts, { concurrency: "unbounded" })
      assert.lengthOf(outcomes.filter(({ _tag }) => _tag === "Right"), 1)
      yield* Scope.close(scope, Exit.void)
    }).pipe(Effect.scoped, Effect.provide(DatabaseTest)))

  it.live.skipIf(!full)(long("is renewed for as long as its process lives"), () =>
    Effect.gen(function*() {
      const [first, second] = yield* homes
      yield* begun(first, { lease: 2, renewEvery: 0.2 })
      yield* Effect.sleep("2500 millis")
      assert.strictEqual((yield* refusal(second))._tag, "LeaseError")
    }).pipe(Effect.scoped, Effect.provide(DatabaseTest)))

  it.live("of a process of this home that has certainly ended is taken over at once", () =>
    Effect.gen(function*() {
      const [home, other] = yield* homes
      const sql = yield* SqlClient.SqlClient
      const scope = yield* Scope.make()
      yield* Scope.extend(begun(home), scope)
      yield* sql`UPDATE hosts SET session = 'crashed', pid = ${deadPid()}`
      assert.strictEqual((yield* refusal(other))._tag, "LeaseError", "another home can't know, and waits")
      yield* begun(home)
      yield* Scope.close(scope, Exit.void)
      assert.lengthOf(yield* leases, 1)
    }).pipe(Effect.scoped, Effect.provide(DatabaseTest)))

  it.live("that has ended goes to the next host, and the first, back again, notices and judges nothing", () =>
    Effect.gen(function*() {
      const [first, second] = yield* homes
      const sql = yield* SqlClient.SqlClient
      const old = yield* begun(first, { lease: 3, renewEvery: 0.2 })
      const lost = yield* Effect.fork(Effect.flip(old.lost))
      // As if it had stood still: it did not renew, and its lease ran out.
      yield* sql`UPDATE hosts SET lease_until = now() - interval '1 second'`
      yield* sql.withTransaction(Effect.gen(function*() {
        yield* sql`SELECT FROM hosts FOR UPDATE`
        yield* sql`DELETE FROM hosts`
        yield* sql`INSERT INTO hosts VALUES ('host_new', 's', 'elsewhere', 1, '1', 'b', 'n', '{}', now(), now() + interval '1 minute')`
      }))
      const { message } = yield* Fiber.join(lost)
      assert.match(
        message,
        /^This host has lost its lease, and stops what it runs: another one took over: host_new on elsewhere/
      )
      let judged = false
      yield* old.whileHeld(Effect.sync(() => (judged = true)))
      assert.isFalse(judged)
      assert.include((yield* refusal(second)).message, "host_new")
    }).pipe(Effect.scoped, Effect.provide(DatabaseTest)))

  it.live.skipIf(!full)(long("that ran out, and that nobody took, goes on"), () =>
    Effect.gen(function*() {
      const [first, second] = yield* homes
      const sql = yield* SqlClient.SqlClient
      const lease = yield* begun(first, { lease: 3, renewEvery: 0.2 })
      yield* sql`UPDATE hosts SET lease_until = now() - interval '1 minute'`
      yield* Effect.sleep("500 millis")
      assert.strictEqual((yield* refusal(second))._tag, "LeaseError")
      let judged = false
      yield* lease.whileHeld(Effect.sync(() => (judged = true)))
      assert.isTrue(judged)
    }).pipe(Effect.scoped, Effect.provide(DatabaseTest)))
})

/** While another process of that home serves. */
const refusalOf = (home: string) =>
  Effect.scoped(
    Effect.zipRight(begun(home), Effect.map(refusal(home), ({ _tag }) => assert.strictEqual(_tag, "LeaseError")))
  )

describe("a process of the same home", () => {
  const own = thisProcess()
  const row: Host = {
    ...own,
    id: "host_1",
    session: "s",
    keyIds: [],
    startedAt: new Date(),
    leaseUntil: new Date(),
    isLive: true
  }

  it("is gone when its number is free, or is another process's by now", () => {
    assert.isFalse(isProvablyGone(row, "host_1", own))
    assert.isTrue(isProvablyGone({ ...row, pid: deadPid() }, "host_1", own))
    assert.isTrue(isProvablyGone({ ...row, processStart: "1" }, "host_1", own))
  })

  it("is not judged from another boot, container or home, nor where the system tells nothing", () => {
    const gone = { ...row, pid: deadPid() }
    assert.isFalse(isProvablyGone({ ...gone, bootId: "another" }, "host_1", own))
    assert.isFalse(isProvablyGone({ ...gone, pidNamespace: "pid:[1]" }, "host_1", own))
    assert.isFalse(isProvablyGone(gone, "host_2", own))
    assert.isFalse(isProvablyGone({ ...gone, bootId: "" }, "host_1", { ...own, bootId: "" }))
  })
})
