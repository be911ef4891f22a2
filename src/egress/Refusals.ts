import { CurrentSettings } from "#src/config/Settings.ts"
import { ServerLogs } from "#src/servers/ServerLogs.ts"
import { Clock, Effect, Runtime } from "effect"
import { LRUCache } from "lru-cache"
import { isIP } from "node:net"
import { entryFor, type Policy } from "./policy.ts"

const quietMillis = 10 * 60_000
/** Other hosts of one server within that time are told of by one line. */
const mostLines = 50
/** Refused hosts of one server that one command names. */
const mostNamed = 10

interface Told {
  /** What was allowed meanwhile. */
  readonly under: string
  readonly until: Map<string, number>
  /** What its egress did not allow, as entries of an allow-list, and when last. */
  readonly refused: Map<string, number>
}

/** Tells a server's log what its machine was refused: each entry of an allow-list at most once in ten minutes, while nothing is changed. */
export class Refusals extends Effect.Service<Refusals>()("egress/Refusals", {
  effect: Effect.gen(function*() {
    const logs = yield* ServerLogs
    const { baseUrl, egressPrivateHosts } = yield* CurrentSettings
    const runtime = yield* Effect.runtime()
    const run = Runtime.runFork(runtime)
    const now = () => Runtime.runSync(runtime)(Clock.currentTimeMillis)
    const servers = new LRUCache<string, Told>({ max: 5_000 })

    /** After a change the owner looks whether it was the right one. */
    const heed = ({ meaning, serverId }: Policy) => {
      const known = servers.get(serverId)
      if (known !== undefined && known.under !== meaning) servers.delete(serverId)
    }

    const toldOf = (policy: Policy): Told => {
      heed(policy)
      const told = servers.get(policy.serverId) ?? { under: policy.meaning, until: new Map(), refused: new Map() }
      servers.set(policy.serverId, told)
      return told
    }

    /** Whether a line about it is due. */
    const isDue = (policy: Policy, about: string, at: number) => {
      const told = toldOf(policy)
      for (const [each, until] of told.until) if (until <= at) told.until.delete(each)
      if (told.until.has(about) || told.until.size > mostLines) return false
      told.until.set(about, at + quietMillis)
      return told.until.size > mostLines ? "last" : true
    }

    const tell = (policy: Policy, about: string, message: string) => {
      const due = isDue(policy, about, now())
      if (due === false) return
      const text = due === "last"
        ? "Its machine is refused more hosts than are told of here within ten minutes"
        : message
      run(
        logs.append(policy.serverId, [{ level: "warn", message: text }]).pipe(
          Effect.catchAllCause((cause) => Effect.logDebug("A refused host could not be told of", cause))
        )
      )
    }

    /** It adds to what is allowed, so that each of several lines may be followed, in any order. */
    const command = (serverId: string, entries: ReadonlyArray<string>) => {
      const change = JSON.stringify({ serverId, egress: { add: entries } })
      return `npx berth call ${baseUrl}/mcp update_server --input '${change}'`
    }

    /** As what the operator lets machines reach a private host. */
    const openedAs = (host: string) =>
      egressPrivateHosts.filter((entry) => entry.toLowerCase().replace(/:\d+$/, "") === host)

    const whyPrivate = ({ internet }: Policy, host: string) => {
      if (isIP(host) > 0) return "it is a private, local or reserved address, and no egress setting allows one"
      const opened = openedAs(host).join(", ")
      if (opened === "") {
        return "its address is private, local or reserved. Only the operator of this platform can let machines reach it " +
          "(EGRESS_PRIVATE_HOSTS)"
      }
      return internet
        ? `its address is private, and "internet" has no such hosts. An allow-list that names ${opened} beside the ` +
          "other hosts that this server needs has it (egress of update_server)"
        : `its address is private, and the operator of this platform lets machines reach it as ${opened} alone`
    }

    const place = (host: string, port: number | undefined) => port === undefined ? host : `${host}:${port}`

    return {
      /** Of whatever its machine does: a change that was taken back is two changes. */
      heed,
      /** By its egress; with the one command that changes it. */
      notAllowed: (policy: Policy, host: string, port?: number) => {
        const entry = entryFor(host, port)
        const { refused } = toldOf(policy)
        refused.delete(entry)
        refused.set(entry, now())
        const [oldest = ""] = refused.keys()
        if (refused.size > mostNamed) refused.delete(oldest)
        tell(
          policy,
          `${entry} is not allowed`,
          `${place(host, port)} was refused: this server's egress does not allow it. To allow it: ${
            command(policy.serverId, [entry])
          }`
        )
      },
      /** What a server's egress has not allowed since a time, with the one command that allows it; undefined: nothing. */
      since: (serverId: string, millis: number) =>
        Effect.sync(() => {
          const entries = [...servers.get(serverId)?.refused ?? []].filter(([, at]) => at >= millis).map(([entry]) =>
            entry
          )
          return entries.length === 0
            ? undefined
            : `Meanwhile its egress refused ${entries.join(", ")}, which may be why. To allow ${
              entries.length === 1 ? "it" : "them"
            }: ${command(serverId, entries)}`
        }),
      private: (policy: Policy, host: string) =>
        tell(policy, `${host} is private`, `${host} was refused: ${whyPrivate(policy, host)}`),
      /** Allowed, and not possible: `why` completes "… failed: ". */
      failed: (policy: Policy, host: string, port: number | undefined, why: string) =>
        tell(policy, `${host} ${why}`, `The way out to ${place(host, port)} failed: ${why}`)
    } as const
  })
}) {}
