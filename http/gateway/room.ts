import { type ClientResponse } from "#http/connection/client-response.ts"
import { crowdedSeconds, crowdedText, makeCounts, mostOfAccount, whileOpen } from "#http/connection/crowd.ts"
import { type Descriptors, fullText } from "#http/connection/Descriptors.ts"
import { type AccessTokenClaims } from "#src/oauth/AccessTokens.ts"
import { type Route } from "#src/routing/Route.ts"
import { type Answer, failure } from "./answer.ts"

/** A request's connection to its client, and the one to its machine. */
const perRequest = 2

const refused = (status: number, code: string, message: string): Answer => ({
  ...failure(status, code, message, { "Retry-After": String(crowdedSeconds), Connection: "close" }),
  isHasty: true
})

const unavailable = (message: string) => refused(503, "SERVICE_UNAVAILABLE", message)

const full = unavailable(fullText)

const serverIsCrowded = (most: number) =>
  unavailable(`${most} requests and event streams are open at this server, the most that it takes; try again shortly`)

const accountIsCrowded = (who: string, most: number) =>
  refused(429, "RATE_LIMITED", crowdedText(who, most, "requests and event streams open at hosted servers"))

interface Options {
  /** Requests that have, or wait for, a connection to a machine. */
  readonly inFlight: { readonly size: number }
  readonly descriptors: Pick<Descriptors, "isFull" | "limit" | "watch">
}

/**
 * How many requests and event streams may be open at hosted servers: so many of each account and each server, and of all
 * as many as leave descriptors for the platform itself (docs/decisions/silent-streams.md).
 */
export const makeRoom = ({ descriptors: { isFull, limit, watch }, inFlight }: Options) => {
  const most = { account: mostOfAccount(limit), server: Math.min(8_000, Math.floor(limit / 8)) }
  const refusals = {
    account: accountIsCrowded("Your account", most.account),
    owner: accountIsCrowded("The account of this server", most.account)
  }
  const crowded = serverIsCrowded(most.server)
  const accounts = makeCounts()
  const servers = makeCounts()
  watch(() => perRequest * inFlight.size)

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
      // Guests together never keep the owner out.
      if (claims?.sub !== owner && servers.of(serverId) >= most.server) return crowded
      whileOpen(res, (change) => {
        accounts.add(account, change)
        servers.add(serverId, change)
      })
      return undefined
    }
  } as const
}
