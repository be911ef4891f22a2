import { writeBehind } from "#src/jobs/write-behind.ts"
import { Effect } from "effect"
import { bucketOf, percentileOf } from "./latency.ts"
import { admit, nameOf, type Names, others } from "./tool-names.ts"
import { type CallsDelta, ToolCallsRepo } from "./ToolCallsRepo.ts"

const capacity = 100_000
const minute = 60_000
/** What a period tells apart, however many days have names of their own. */
const shownTools = 100
const shownClients = 20

/** One call of a tool that was passed to a server's machine. */
export interface ToolCall {
  readonly tool: string
  /** As the client named itself; undefined: it didn't. */
  readonly client: string | undefined
  readonly isError: boolean
  /** Milliseconds until its answer was complete; undefined: it is not timed. */
  readonly millis: number | undefined
}

const byCalls = (one: { readonly calls: number }, other: { readonly calls: number }) => other.calls - one.calls

/** The calls of tools, for whom they are read: `tool` undefined are all others together. */
interface Group {
  calls: number
  errors: number
  micros: number
  readonly latencies: Array<{ readonly latency: number; readonly requests: number }>
  readonly clients: Map<string, number>
}

const figures = ({ calls, clients, errors, latencies, micros }: Group) => {
  const named = [...clients].flatMap(([name, calls]) => name === others ? [] : [{ name, calls }]).sort(byCalls)
  const timed = latencies.reduce((sum, { requests }) => sum + requests, 0)
  const shown = named.slice(0, shownClients)
  return {
    calls,
    errors,
    averageMillis: timed === 0 ? 0 : micros / timed / 1000,
    p99Millis: percentileOf(latencies, 0.99),
    clients: shown,
    otherClients: Math.max(0, calls - shown.reduce((sum, { calls }) => sum + calls, 0))
  }
}

/**
 * Calls of servers' tools, by whom, and how long they took, as gateways pass them on. Counted and written as
 * ServerRequests are: a crash loses three seconds at most.
 */
export class ToolCalls extends Effect.Service<ToolCalls>()("usage/ToolCalls", {
  scoped: Effect.gen(function*() {
    const repo = yield* ToolCallsRepo
    /** Names that wait to be written, by server: as few as the database tells apart in a day. */
    let waiting = new Map<string, Names>()
    const namesOf = (serverId: string) => {
      let names = waiting.get(serverId)
      if (names === undefined) waiting.set(serverId, names = { tools: new Set(), clients: new Set() })
      return names
    }
    const { flush, rowOf } = yield* writeBehind("Writing calls of tools", "3 seconds", {
      what: "calls of tools",
      names: ["calls", "errors", "micros"],
      capacity,
      batch: 5_000,
      write: (deltas: ReadonlyArray<CallsDelta>) => repo.add(deltas),
      written: () => void (waiting = new Map())
    })

    const grouped = Effect.fnUntraced(function*(serverId: string, hours: number) {
      const [calls, clients] = yield* Effect.all([
        repo.callsOfLast(serverId, hours),
        repo.clientsOfLast(serverId, hours)
      ])
      const totals = new Map<string, number>()
      for (const { calls: count, tool } of calls) totals.set(tool, (totals.get(tool) ?? 0) + count)
      const shown = new Set(
        [...totals].flatMap(([tool, calls]) => tool === others ? [] : [{ tool, calls }]).sort(byCalls)
          .slice(0, shownTools).map(({ tool }) => tool)
      )
      const groups = new Map<string, Group>()
      const groupOf = (tool: string) => {
        const key = shown.has(tool) ? tool : others
        const make = (): Group => ({ calls: 0, errors: 0, micros: 0, latencies: [], clients: new Map() })
        const group = groups.get(key) ?? make()
        groups.set(key, group)
        return group
      }
      for (const row of calls) {
        const group = groupOf(row.tool)
        group.calls += row.calls
        group.errors += row.errors
        group.micros += row.micros
        if (row.latency !== null) group.latencies.push({ latency: row.latency, requests: row.calls })
      }
      for (const { calls, client, tool } of clients) {
        const group = groupOf(tool)
        group.clients.set(client, (group.clients.get(client) ?? 0) + calls)
      }
      return groups
    })

    return {
      count: (serverId: string, { client, isError, millis, tool }: ToolCall) => {
        const now = Date.now()
        const latency = millis === undefined ? null : bucketOf(millis)
        const began = now - now % minute
        const told = { tool: nameOf(tool), client: nameOf(client ?? others), isError }
        const named = admit(namesOf(serverId), told)
        // No name has a NUL.
        const id = `${serverId} ${began} ${latency} ${named.tool}\0${named.client}`
        const make = () => ({ serverId, minute: began, ...named, latency, calls: 0, errors: 0, micros: 0 })
        const row = rowOf(id, make)
        if (row === undefined) return
        row.calls++
        if (isError) row.errors++
        if (millis !== undefined) row.micros += Math.round(millis * 1000)
      },
      /** Of the last so many hours, all gateways together, the most called first; `other` has what was not told apart. */
      ofLast: Effect.fn("ToolCalls.ofLast")(function*(serverId: string, hours: number) {
        const groups = yield* grouped(serverId, hours)
        const other = groups.get(others)
        groups.delete(others)
        return {
          items: [...groups].map(([tool, group]) => ({ tool, ...figures(group) })).sort(byCalls),
          other: other === undefined ? null : figures(other)
        }
      }),
      fold: repo.fold,
      flush
    } as const
  })
}) {}
