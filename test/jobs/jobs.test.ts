import { clientLayer } from "#sql/Client.ts"
import { type JobRecord } from "#src/jobs/Job.ts"
import { JobList } from "#src/jobs/JobList.ts"
import { Jobs } from "#src/jobs/Jobs.ts"
import { JobsRepo } from "#src/jobs/JobsRepo.ts"
import { JobListLive, JobsLive } from "#src/jobs/Live.ts"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Layer, Queue, Redacted, TestClock, TestServices } from "effect"
import { DatabaseTest, freshDatabaseUrl } from "../support/Database.ts"
import { DatabaseProxy } from "../support/proxy.ts"
import { settingsTest } from "../support/Settings.ts"

/** The jobs of a process with a home of its own, until the scope closes. */
const host = Effect.map(
  Effect.suspend(() => Layer.build(Layer.fresh(JobsLive).pipe(Layer.provide(settingsTest())))),
  Context.get(Jobs)
)

const listed = Effect.flatMap(JobList, ({ all }) => all).pipe(Effect.provide(JobListLive))

/** The job's record, as soon as it is so. */
const soon = Effect.fnUntraced(function*(name: string, holds: (job: JobRecord) => boolean) {
  let found: JobRecord | undefined
  for (let tries = 0; tries < 400; tries++) {
    found = (yield* listed).find((job) => job.name === name)
    if (found !== undefined && holds(found)) return found
    yield* Effect.sleep("25 millis")
  }
  return assert.fail(`not in ten seconds: ${JSON.stringify(found)}`)
})

const until = Effect.fnUntraced(function*(what: string, holds: () => boolean) {
  for (let tries = 0; !holds(); tries++) {
    if (tries > 400) assert.fail(`not in ten seconds: ${what}`)
    yield* Effect.sleep("25 millis")
  }
})

describe("a job", () => {
  it.scopedLive("that fails is recorded with why, comes again in its time, and is recorded when it recovers", () =>
    Effect.gen(function*() {
      const jobs = yield* host
      const mended = yield* Deferred.make<void>()
      const work = Effect.flatMap(
        Deferred.isDone(mended),
        (isDone) => isDone ? Effect.void : Effect.fail(new Error("no luck\nat all, with svc_live_abcdef"))
      )
      yield* jobs.every("Trying", "50 millis", work)
      const failing = yield* soon("Trying", ({ failedAt }) => failedAt !== null)
      assert.deepStrictEqual([failing.failure, failing.failedAt], ["no luck", failing.lastRunAt])
      assert.strictEqual(failing.intervalMillis, 50)
      yield* Deferred.succeed(mended, undefined)
      const recovered = yield* soon("Trying", ({ failedAt, lastRunAt }) => Number(lastRunAt) > Number(failedAt))
      assert.strictEqual(recovered.failure, "no luck", "what it failed with last is kept")
    }).pipe(Effect.provide(DatabaseTest)))

  it.scopedLive("is listed before it has run, and says nothing of runs until then", () =>
    Effect.gen(function*() {
      const jobs = yield* host
      yield* jobs.every("Later", "1 hour", Effect.void, { after: "1 hour" })
      const { failure, lastRunAt, tookMillis } = yield* soon("Later", () => true)
      assert.deepStrictEqual([lastRunAt, tookMillis, failure], [null, null, null])
    }).pipe(Effect.provide(DatabaseTest)))

  it.scopedLive("that each host runs has a record of each", () =>
    Effect.gen(function*() {
      for (const jobs of [yield* host, yield* host]) yield* jobs.every("Each", "1 hour", Effect.void)
      yield* soon("Each", () => true)
      yield* Effect.sleep("1500 millis")
      const records = yield* listed
      assert.lengthOf(records, 2)
      for (const { host, lastRunAt } of records) assert.isTrue(host !== "" && lastRunAt !== null)
    }).pipe(Effect.provide(DatabaseTest)))

  it.scopedLive("that waits to be asked runs each time that it is, and goes on after a failure", () =>
    Effect.gen(function*() {
      const jobs = yield* host
      const asked = yield* Queue.unbounded<void>()
      let runs = 0
      yield* jobs.onRequest("Asked", Queue.take(asked), Effect.suspend(() => Effect.fail(`run ${++runs}`)))
      assert.strictEqual((yield* soon("Asked", () => true)).intervalMillis, null)
      assert.strictEqual(runs, 0)
      for (const run of [1, 2]) {
        yield* Queue.offer(asked, undefined)
        yield* until(`${run} runs`, () => runs === run)
      }
    }).pipe(Effect.provide(DatabaseTest)))
})

describe("a job that runs once across hosts", () => {
  it.scopedLive("is run by one of two that want it at the same moment", () =>
    Effect.gen(function*() {
      let runs = 0
      for (const jobs of [yield* host, yield* host]) yield* jobs.once("Once", "1 hour", Effect.sync(() => runs++))
      yield* soon("Once", ({ lastRunAt }) => lastRunAt !== null)
      yield* Effect.sleep("500 millis")
      assert.strictEqual(runs, 1)
      assert.deepStrictEqual((yield* listed).map(({ host }) => host), [""])
      // Whoever comes later finds that it is not due.
      yield* (yield* host).once("Once", "1 hour", Effect.sync(() => runs++))
      yield* Effect.sleep("500 millis")
      assert.strictEqual(runs, 1)
    }).pipe(Effect.provide(DatabaseTest)))

  it.scopedLive("comes again after its pause, by whichever host, and never twice at once", () =>
    Effect.gen(function*() {
      const ends: Array<number> = []
      let underWay = 0
      let most = 0
      let last = 0
      const work = Effect.acquireUseRelease(
        Effect.sync(() => {
          most = Math.max(most, ++underWay)
          if (last > 0) ends.push(performance.now() - last)
        }),
        () => Effect.sleep("100 millis"),
        () => Effect.sync(() => (underWay--, last = performance.now()))
      )
      for (const jobs of [yield* host, yield* host]) yield* jobs.once("Again", "200 millis", work)
      yield* until("five pauses", () => ends.length >= 5)
      for (const pause of ends) assert.isAtLeast(pause, 190)
      assert.strictEqual(most, 1, "at once")
    }).pipe(Effect.provide(DatabaseTest)))

  it.scopedLive("is taken up by the others when the host that ran it is gone", () =>
    Effect.gen(function*() {
      const runs = { first: 0, second: 0 }
      yield* Effect.scoped(Effect.gen(function*() {
        yield* (yield* host).once(
          "Inherited",
          "300 millis",
          Effect.zipRight(Effect.sync(() => runs.first++), Effect.never)
        )
        yield* until("the first ran", () => runs.first === 1)
      }))
      yield* (yield* host).once("Inherited", "300 millis", Effect.sync(() => runs.second++))
      yield* until("the second ran", () => runs.second > 0)
      assert.strictEqual(runs.first, 1)
    }).pipe(Effect.provide(DatabaseTest)))
})

describe("a job that one host of all runs each six hours", () => {
  const dueIn = Effect.fnUntraced(function*(name: string) {
    const { due } = yield* JobsRepo
    return (yield* due(name)).waitMillis / 60_000
  })

  it.scopedLive.each(
    [
      ["under way: a quarter of an hour later, if its host dies", Effect.never, 14, 15],
      ["that failed: five minutes later", Effect.fail("no luck"), 4, 5],
      ["that worked: six hours later", Effect.void, 359, 360]
    ] as const
  )("comes again after a run %s", ([, work, least, most]) =>
    Effect.gen(function*() {
      let begun = 0
      yield* (yield* host).once("Seldom", "6 hours", Effect.zipRight(Effect.sync(() => begun++), work))
      yield* until("it began", () => begun === 1)
      yield* Effect.sleep("200 millis")
      const minutes = yield* dueIn("Seldom")
      assert.isTrue(minutes > least && minutes <= most, `${minutes} minutes`)
      assert.strictEqual(begun, 1)
    }).pipe(Effect.provide(JobsRepo.Default), Effect.provide(DatabaseTest)))
})

describe("the record of a job that runs each two seconds", () => {
  it.scoped("is written once a minute", () =>
    Effect.gen(function*() {
      const real = yield* JobsRepo
      let writes = 0
      let underWay = 0
      const counting = Layer.succeed(
        JobsRepo,
        JobsRepo.make({
          ...real,
          record: (records) =>
            Effect.acquireUseRelease(
              Effect.sync(() => (writes++, underWay++)),
              () => real.record(records),
              () => Effect.sync(() => underWay--)
            )
        })
      )
      const jobs = Context.get(
        yield* Layer.build(Jobs.Default.pipe(Layer.provide(counting), Layer.provide(settingsTest()))),
        Jobs
      )
      let runs = 0
      yield* jobs.every("Often", "2 seconds", Effect.sync(() => runs++))
      for (let seconds = 0; seconds < 300; seconds += 2) {
        yield* TestClock.adjust("2 seconds")
        do yield* TestServices.provideLive(Effect.sleep("2 millis"))
        while (underWay > 0)
      }
      assert.isAtLeast(runs, 150)
      assert.isAtLeast(writes, 5)
      assert.isAtMost(writes, 6)
    }).pipe(Effect.provide(JobsRepo.Default), Effect.provide(DatabaseTest)), 30_000)
})

describe("while the database is away", () => {
  it.scopedLive(
    "jobs that need none go on as fast, and the others when it is back; then it is told how they fare",
    () =>
      Effect.gen(function*() {
        const url = yield* freshDatabaseUrl
        const proxy = new DatabaseProxy()
        const through = yield* Effect.promise(() => proxy.through(url))
        yield* Effect.addFinalizer(() => Effect.promise(() => proxy.cut()))
        const away = yield* Layer.build(clientLayer(Redacted.make(through), 3))
        const jobs = yield* Effect.provide(host, away)
        const record = (name: string, holds: (job: JobRecord) => boolean) =>
          Effect.provide(soon(name, holds), clientLayer(Redacted.make(url), 1))
        let every = 0
        let once = 0
        yield* jobs.every("Going on", "20 millis", Effect.sync(() => every++))
        yield* jobs.once("Waiting", "200 millis", Effect.sync(() => once++))
        yield* until("both have run", () => every > 1 && once > 1)

        yield* Effect.promise(proxy.cut)
        yield* Effect.sleep("300 millis")
        const before = { every, once }
        // It is news, and must be written as soon as that can be.
        yield* jobs.every("Begun meanwhile", "1 hour", Effect.void)
        yield* Effect.sleep("2 seconds")
        assert.isAtLeast(every - before.every, 40)
        assert.strictEqual(once, before.once)

        yield* Effect.promise(proxy.mend)
        yield* until("it runs again", () => once > before.once)
        yield* record("Begun meanwhile", ({ lastRunAt }) => lastRunAt !== null)
        const { failure } = yield* record("Waiting", ({ failedAt }) => failedAt !== null)
        assert.match(failure ?? "", /^the database can't be reached: /)
      }),
    30_000
  )
})
