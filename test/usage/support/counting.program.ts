import { clientLayer } from "#sql/Client.ts"
import { JobsLive } from "#src/jobs/Live.ts"
import { RateLimit } from "#src/shared/RateLimit.ts"
import { RequestMetering } from "#src/usage/RequestMetering.ts"
import { UsageRepo } from "#src/usage/UsageRepo.ts"
import { Effect, Layer, Redacted } from "effect"
import { settingsTest } from "../../support/Settings.ts"
import { type Answer, type Question } from "./counting.ts"

/** Counts requests as a gateway and a platform do, for whoever forked it: on a database, and on Redis if one is named. */
const { DATABASE_URL = "", REDIS_URL } = process.env
const settings = settingsTest({ DATABASE_URL, ...(REDIS_URL === undefined ? {} : { REDIS_URL }) })
const database = Layer.orDie(clientLayer(Redacted.make(DATABASE_URL), 5))
const counters = Layer.mergeAll(
  RequestMetering.Default.pipe(Layer.provide(UsageRepo.Default), Layer.provide(JobsLive), Layer.provide(database)),
  RateLimit.Default
).pipe(Layer.provide(settings))

const main = Effect.gen(function*() {
  const metering = yield* RequestMetering
  const { consume } = yield* RateLimit
  const countOf = async (question: Question) => {
    const asked = Array.from({ length: question.requests }, async () =>
      question._tag === "Month"
        ? (await metering.admit(question.account, question.limit))._tag === "Admitted"
        : (await Effect.runPromise(consume({ key: question.key, limit: question.limit, window: "1 minute" }))).allowed)
    return (await Promise.all(asked)).filter(Boolean).length
  }
  process.on("message", (question: Question) => {
    void countOf(question).then((passed) => process.send?.({ passed } satisfies Answer))
  })
  process.send?.({ passed: 0 } satisfies Answer)
  yield* Effect.async<void>((resume) => void process.once("SIGTERM", () => resume(Effect.void)))
})

await Effect.runPromise(Effect.scoped(Effect.provide(main, counters)))
process.disconnect()
