import { type MachineRun, Machines } from "#src/machines/Machines.ts"
import { MachineMetering } from "#src/usage/MachineMetering.ts"
import { MachineMeteringRepo } from "#src/usage/MachineMeteringRepo.ts"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { newAccount } from "../gateway/support.ts"
import { DatabaseTest } from "../support/Database.ts"
import { withoutMachines } from "../support/no-machines.ts"

const second = 1_000
const hour = 3600 * second
const ago = (millis: number) => Date.now() - millis

/** A host: what its machines did, and the platform on it. */
const host = Effect.sync(() => {
  const runs: Array<MachineRun> = []
  const machines = Layer.succeed(Machines, {
    ...withoutMachines("a test tells what ran"),
    runs: (name) => Effect.sync(() => runs.filter((run) => run.name === (name ?? run.name)))
  })
  /** A process that has counted nothing yet. */
  const platform = Effect.provide(
    MachineMetering,
    Layer.fresh(Layer.provide(MachineMetering.Default, [machines, MachineMeteringRepo.Default]))
  )
  const has = (...now: ReadonlyArray<MachineRun>) => void runs.splice(0, Infinity, ...now)
  return { platform, has }
})

let number = 0
const newMachine = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const account = yield* newAccount()
  const id = `${Date.now()}${number++}`
  yield* sql`INSERT INTO projects (id, account_id, name, slug) VALUES (${`p${id}`}, ${account}, 'P', 'p')`
  yield* sql`INSERT INTO slugs (slug, account_id) VALUES (${`s${id}`}, ${account})`
  yield* sql`INSERT INTO servers (id, project_id, name, slug, region, cpu, memory_mb, health_path, health_timeout_seconds,
      rollback_on_health_check_failure, deployment_retention_count, replay_token)
    VALUES (${`v${id}`}, ${`p${id}`}, 'S', ${`s${id}`}, 'ord', 'shared-1x', 256, '/', 30, true, 10, ${`t${id}`})`
  const run = (startedAt: number, endedAt?: number | null): MachineRun => ({
    name: `m${id}`,
    owner: `v${id}`,
    startedAt,
    endedAt
  })
  const days = Effect.map(
    sql<{ readonly millis: number }>`SELECT compute_milliseconds::float8 AS millis FROM usage_days
      WHERE account_id = ${account} ORDER BY day`,
    (rows) => rows.map(({ millis }) => millis)
  )
  const counted = Effect.map(days, (rows) => rows.reduce((sum, millis) => sum + millis, 0))
  const ofPeriods = Effect.map(
    sql<{ readonly millis: number }>`SELECT coalesce(sum(compute_milliseconds), 0)::float8 AS millis FROM usage
      WHERE account_id = ${account}`,
    ([row]) => row?.millis
  )
  /** As if the last count were so long ago. */
  const pass = (millis: number) =>
    sql`UPDATE machine_metering SET counted_until = counted_until - ${millis} * interval '1 millisecond'
      WHERE machine = ${`m${id}`}`
  return { server: `v${id}`, run, days, counted, ofPeriods, pass }
})

/** Tests take their time, too. */
const near = (actual: number, expected: number, what: string) => assert.closeTo(actual, expected, 1_900, what)

describe("a machine's time", () => {
  it.scopedLive("is counted from its start, once, however many platforms count it at the same time", () =>
    Effect.gen(function*() {
      const { counted, ofPeriods, run } = yield* newMachine
      const hosts = yield* Effect.all([host, host])
      for (const { has } of hosts) has(run(ago(60 * second)))
      const platforms = yield* Effect.all(hosts.map(({ platform }) => platform))
      const tickAll = Effect.all([...platforms, ...platforms].map(({ tick }) => tick()), { concurrency: "unbounded" })
      yield* tickAll
      near(yield* counted, 60 * second, "the whole run")
      yield* tickAll
      near(yield* counted, 60 * second, "nothing twice")
      assert.strictEqual(yield* ofPeriods, yield* counted)
    }).pipe(Effect.provide(DatabaseTest)))

  it.scopedLive("goes on after a crash of the platform from where it was counted", () =>
    Effect.gen(function*() {
      const { counted, pass, run } = yield* newMachine
      const { has, platform } = yield* host
      has(run(ago(60 * second)))
      yield* (yield* platform).tick()
      yield* pass(25 * second)
      yield* (yield* platform).tick()
      near(yield* counted, 85 * second, "also the time without a platform")
    }).pipe(Effect.provide(DatabaseTest)))

  it.scopedLive("of one that died with the platform is counted to its end, or to the last count where nobody saw it", () =>
    Effect.gen(function*() {
      const { counted, pass, run } = yield* newMachine
      const { has, platform } = yield* host
      has(run(ago(60 * second)))
      yield* (yield* platform).tick()
      yield* pass(7 * second)
      has(run(ago(67 * second), ago(3 * second)))
      const back = yield* platform
      yield* back.tick()
      yield* back.tick()
      near(yield* counted, 64 * second, "to its end")
      has(run(ago(3 * second), null))
      yield* back.tick()
      near(yield* counted, 64 * second, "nobody knows when")
      has(run(ago(4 * second)))
      yield* (yield* platform).tick()
      near(yield* counted, 68 * second, "and from its next start on")
    }).pipe(Effect.provide(DatabaseTest)))

  it.scopedLive("is counted to the end when it ends and starts between two looks", () =>
    Effect.gen(function*() {
      const { counted, pass, run } = yield* newMachine
      const { has, platform } = yield* host
      const startedAt = ago(20 * second)
      has(run(startedAt))
      yield* (yield* platform).tick()
      yield* pass(18 * second)
      has(run(startedAt - 18 * second, ago(6 * second)))
      const { settle, tick } = yield* platform
      yield* Effect.zipRight(settle(run(0).name), settle(run(0).name))
      near(yield* counted, 32 * second, "20 and 12")
      has(run(ago(3 * second)))
      yield* tick()
      near(yield* counted, 35 * second, "20, 12 and 3")
    }).pipe(Effect.provide(DatabaseTest)))

  it.scopedLive("is counted before its server is deleted, and no more of it afterwards, nor of others less", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [gone, stays] = yield* Effect.all([newMachine, newMachine])
      const { has, platform } = yield* host
      has(gone.run(ago(9 * second)), stays.run(ago(9 * second)))
      const { settle, settleServers, tick } = yield* platform
      yield* settleServers([gone.server])
      near(yield* gone.counted, 9 * second, "though no tick came")
      assert.strictEqual(yield* stays.counted, 0)
      yield* sql`DELETE FROM servers WHERE id = ${gone.server}`
      const before = yield* gone.counted
      yield* settle(gone.run(0).name)
      yield* tick()
      assert.strictEqual(yield* gone.counted, before)
      near(yield* stays.counted, 9 * second, "of the other")
    }).pipe(Effect.provide(DatabaseTest)))

  it.scopedLive("is none of a server that is being deleted as it is counted", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [gone, stays] = yield* Effect.all([newMachine, newMachine])
      const { has, platform } = yield* host
      has(gone.run(ago(9 * second)), stays.run(ago(9 * second)))
      const { tick } = yield* platform
      const deleted = yield* Deferred.make<void>()
      const deleting = yield* Effect.fork(sql.withTransaction(Effect.gen(function*() {
        yield* sql`DELETE FROM servers WHERE id = ${gone.server}`
        yield* Deferred.succeed(deleted, undefined)
        yield* Effect.sleep("200 millis")
      })))
      yield* Deferred.await(deleted)
      yield* tick()
      yield* Fiber.join(deleting)
      assert.strictEqual(yield* gone.counted, 0)
      near(yield* stays.counted, 9 * second, "of the other")
    }).pipe(Effect.provide(DatabaseTest)))

  it.scopedLive("does not pass while the host is suspended", () =>
    Effect.gen(function*() {
      const { counted, pass, run } = yield* newMachine
      const { has, platform } = yield* host
      const { tick } = yield* platform
      has(run(ago(5 * second)))
      yield* tick()
      yield* pass(hour)
      yield* tick()
      assert.isBelow(yield* counted, 8 * second)
    }).pipe(Effect.provide(DatabaseTest)))

  it.scopedLive("is of the days on which it passed", () =>
    Effect.gen(function*() {
      const { counted, days, ofPeriods, run } = yield* newMachine
      const { has, platform } = yield* host
      has(run(ago(49 * hour)))
      yield* (yield* platform).tick()
      const [first, ...rest] = yield* days
      const today = new Date().setUTCHours(0, 0, 0, 0)
      near(yield* counted, 49 * hour, "all")
      near(rest.at(-1) ?? 0, Math.min(49 * hour, Date.now() - today), "today")
      assert.isBelow(first ?? Infinity, 24 * hour)
      near(rest[0] ?? 0, 24 * hour, "a whole day")
      assert.strictEqual(yield* ofPeriods, yield* counted)
    }).pipe(Effect.provide(DatabaseTest)))

  it.scopedLive("of a server that is deleted meanwhile is nobody's, and keeps no other from being counted", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [kept, gone] = [yield* newMachine, yield* newMachine]
      const { has, platform } = yield* host
      has(kept.run(ago(10 * second)), gone.run(ago(10 * second)))
      yield* sql`DELETE FROM servers WHERE id = ${gone.server}`
      yield* (yield* platform).tick()
      near(yield* kept.counted, 10 * second, "the other")
      assert.strictEqual(yield* gone.counted, 0)
    }).pipe(Effect.provide(DatabaseTest)))

  it.scopedLive("is remembered for as long as its machine is there, and a day more", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [here, gone] = [yield* newMachine, yield* newMachine]
      const { has, platform } = yield* host
      has(here.run(ago(second), ago(0)), gone.run(ago(second), ago(0)))
      const { tick } = yield* platform
      yield* tick()
      for (const { pass } of [here, gone]) yield* pass(25 * hour)
      has(here.run(ago(second), ago(0)))
      yield* tick()
      const rows = yield* sql`SELECT server_id FROM machine_metering WHERE server_id IN ${
        sql.in([here.server, gone.server])
      }`
      assert.deepStrictEqual(rows, [{ serverId: here.server }])
    }).pipe(Effect.provide(DatabaseTest)))
})
