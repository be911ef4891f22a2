import { type ClientResponse } from "#http/connection/client-response.ts"
import { type AccessTokenClaims } from "#src/oauth/AccessTokens.ts"
import { type Route } from "#src/routing/Route.ts"
import { descriptorLimit, openDescriptors } from "#src/shared/descriptors.ts"
import { type Answer, failure } from "./answer.ts"

/** The share of the process's descriptors that hosted servers may use with all else; the rest is the platform's. */
const share = 0.8
/** A request's connection to its client, and the one to its machine. */
const perRequest = 2
const countEveryMillis = 1_000
const warnEveryMillis = 60_000
const warning = "Requests to hosted servers are refused: this process has nearly as many files open as it may have. " +
  "Raise its limit (LimitNOFILE), or find who holds them"
/** Counts beyond this many are dropped when they are 0. */
const mostZeros = 1_000

const hasty = (reply: Answer): Answer => ({ ...reply, isHasty: true })

const unavailable = (message: string) =>
  hasty(failure(503, "SERVICE_UNAVAILABLE", message, { "Retry-After": "5", Connection: "close" }))

const full = unavailable("The platform has nearly as many connections open as it may have; try again shortly")

const serverIsCrowded = (most: number) =>
  unavailable(
    `${most} requests and event streams are open at this server, and it takes no more at a time; try again shortly`
  )

const accountIsCrowded = (most: number, isOwner: boolean) =>
  hasty(failure(
    429,
    "RATE_LIMITED",
    `${
      isOwner ? "The account of this server" : "Your account"
    } has ${most} requests and event streams open at hosted ` +
      "servers, and may have no more at a time: end some, then try again",
    { "Retry-After": "5", Connection: "close" }
  ))

const makeCounts = () => {
  const counts = new Map<string, number>()
  return {
    of: (key: string) => counts.get(key) ?? 0,
    add: (key: string, change: number) => {
      const now = (counts.get(key) ?? 0) + change
      if (now <= 0 && counts.size > mostZeros) counts.delete(key)
      else counts.set(key, now)
    }
  }
}

interface Options {
  /** Requests that have, or wait for, a connection to a machine. */
  readonly inFlight: { readonly size: number }
  readonly log: (message: string, what: unknown) => void
  readonly limit?: number
  readonly count?: () => Promise<number>
}

/**
 * How many requests and event streams may be open at hosted servers: so many of each account and each server, and of all
 * as many as leave descriptors for the platform itself (docs/decisions/silent-streams.md).
 */
export const makeRoom = (
  { count = openDescriptors, inFlight, limit = descriptorLimit() ?? Infinity, log }: Options
) => {
  const most = { account: Math.min(2_000, Math.floor(limit / 16)), server: Math.min(8_000, Math.floor(limit / 8)) }
  const refusals = { account: accountIsCrowded(most.account, false), owner: accountIsCrowded(most.account, true) }
  const crowded = serverIsCrowded(most.server)
  const accounts = makeCounts()
  const servers = makeCounts()
  let counted = { open: 0, inFlight: 0 }
  let countAgainAt = 0
  let warnAgainAt = 0

  const countNow = () => {
    const began = performance.now()
    countAgainAt = Infinity
    const sizeThen = inFlight.size
    count().then((open) => {
      const pause = Math.max(countEveryMillis, 50 * (performance.now() - began))
      counted = { open, inFlight: sizeThen }
      countAgainAt = performance.now() + pause
      if (open < limit * share) return
      // Also when nobody asks: the next one to come is not to be refused for what was.
      setTimeout(countIfDue, pause + 10).unref()
      if (performance.now() < warnAgainAt) return
      warnAgainAt = performance.now() + warnEveryMillis
      log(warning, { open, limit })
    }, () => countAgainAt = performance.now() + countEveryMillis)
  }

  const countIfDue = () => {
    if (performance.now() >= countAgainAt) countNow()
  }

  const isFull = () => {
    countIfDue()
    return counted.open + perRequest * (inFlight.size - counted.inFlight) >= limit * share
  }

  return {
    /** For a request of nobody knows whom; undefined: there is room. */
    refusal: () => isFull() ? full : undefined,
    /** Lets a request in until its response is closed; else what to answer. */
    enter: (
      { accountId: owner, serverId }: Pick<Route, "accountId" | "serverId">,
      claims: Pick<AccessTokenClaims, "sub"> | undefined,
      res: ClientResponse
    ): Answer | undefined => {
      // Who calls a byoa server, its machine alone knows.
      const account = claims?.sub ?? owner
      if (isFull()) return full
      if (accounts.of(account) >= most.account) return claims === undefined ? refusals.owner : refusals.account
      if (servers.of(serverId) >= most.server) return crowded
      accounts.add(account, 1)
      servers.add(serverId, 1)
      res.once("close", () => {
        accounts.add(account, -1)
        servers.add(serverId, -1)
      })
      return undefined
    }
  } as const
}
