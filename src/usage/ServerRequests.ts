import { writeBehind } from "#src/jobs/write-behind.ts"
import { Array, Clock, Effect } from "effect"
import { bucketOf, percentileOf } from "./latency.ts"
import { type RequestsDelta, ServerRequestsRepo } from "./ServerRequestsRepo.ts"

const capacity = 100_000
const minute = 60_000

/** One request that was passed to a server's machine. */
export interface Passed {
  readonly isError: boolean
  /** Milliseconds until its answer was complete; undefined: it is not timed. */
  readonly millis: number | undefined
}

type Counts = Readonly<Record<"requests" | "errors" | "micros", number>> & { readonly latency: number | null }

const figuresOf = (rows: ReadonlyArray<Counts>) => {
  const timed = rows.flatMap(({ latency, ...row }) => latency === null ? [] : [{ ...row, latency }])
  const sum = (name: "requests" | "errors" | "micros", of: ReadonlyArray<Record<typeof name, number>>) =>
    of.reduce((total, row) => total + row[name], 0)
  return {
    requests: sum("requests", rows),
    errors: sum("errors", rows),
    averageMillis: timed.length === 0 ? 0 : sum("micros", timed) / sum("requests", timed) / 1000,
    p99Millis: percentileOf(timed, 0.99)
  }
}

/**
 * Requests of each server and how long they took, as gateways pass them on. Counted in memory, written every few seconds
 * and at shutdown: a crash loses what was counted since, three seconds at most.
 */
export class ServerRequests extends Effect.Service<ServerRequests>()("usage/ServerRequests", {
  scoped: Effect.gen(function*() {
    const repo = yield* ServerRequestsRepo
    const { flush, rowOf } = yield* writeBehind("Writing requests of servers", "3 seconds", {
      what: "requests of servers",
      names: ["requests", "errors", "micros"],
      capacity,
      batch: 5_000,
      write: (deltas: ReadonlyArray<RequestsDelta>) => repo.add(deltas)
    })

    return {
      count: (serverId: string, { isError, millis }: Passed) => {
        const now = Date.now()
        const latency = millis === undefined ? null : bucketOf(millis)
        const began = now - now % minute
        const id = `${serverId} ${began} ${latency}`
        const make = () => ({ serverId, minute: began, latency, requests: 0, errors: 0, micros: 0 })
        const row = rowOf(id, make)
        if (row === undefined) return
        row.requests++
        if (isError) row.errors++
        if (millis !== undefined) row.micros += Math.round(millis * 1000)
      },
      /** Of the last so many hours, all gateways together. Milliseconds; 0 where nothing was timed. */
      ofLast: Effect.fn("ServerRequests.ofLast")(function*(serverId: string, hours: number) {
        return figuresOf(yield* repo.ofLast(serverId, hours))
      }),
      /** The same by steps of so many seconds, those without a request too; steps are whole in Unix time. */
      seriesOf: Effect.fn("ServerRequests.seriesOf")(function*(serverId: string, hours: number, seconds: number) {
        const now = yield* Clock.currentTimeMillis
        const rows = yield* repo.seriesOf(serverId, hours, seconds)
        const byStep = Array.groupBy(rows, ({ at }) => String(at))
        const first = Math.floor((now / 1000 - hours * 3600) / seconds)
        const count = Math.floor(now / 1000 / seconds) - first + 1
        return Array.makeBy(count, (i) => ({
          startsAt: new Date((first + i) * seconds * 1000),
          ...figuresOf(byStep[String(first + i)] ?? [])
        }))
      }),
      fold: repo.fold,
      flush
    } as const
  })
}) {}
