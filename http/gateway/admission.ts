import { addressOf } from "#http/callers/address.ts"
import { type ClientResponse } from "#http/connection/client-response.ts"
import { type AccessTokenClaims } from "#src/oauth/AccessTokens.ts"
import { plans } from "#src/plans/Plan.ts"
import { type Route } from "#src/routing/Route.ts"
import { addressBucket } from "#src/shared/client-address.ts"
import { type GuestRefusal } from "#src/usage/guest-budget.ts"
import { type GuestRequests } from "#src/usage/GuestRequests.ts"
import { type Admission } from "#src/usage/month-budget.ts"
import { type RequestMetering } from "#src/usage/RequestMetering.ts"
import { type IncomingMessage } from "node:http"
import { type Affinity, sessionGoneFor } from "./affinity.ts"
import { type Answer } from "./answer.ts"
import { guestRefused, periodLimitReached } from "./limits.ts"
import { type waker } from "./wake.ts"

type Respond = (req: IncomingMessage, res: ClientResponse, reply: Answer, letIn?: Route) => void

interface AdmissionOptions {
  readonly metering: RequestMetering
  readonly guests: GuestRequests
  readonly affinity: Affinity
  readonly wake: ReturnType<typeof waker>
  readonly respond: Respond
  readonly side: { readonly trustProxy: number }
}

/** Where the server's machine checks tokens, there are no claims, and nobody is the owner. */
export const isGuest = ({ accountId }: Route, claims: AccessTokenClaims | undefined) => claims?.sub !== accountId

/** Counts requests of the month, and wakes servers for those that are counted. What comes to nothing is answered here. */
export const admission = ({ affinity, guests, metering, respond, side, wake }: AdmissionOptions) => {
  const admitToMonth = (route: Route, req: IncomingMessage, res: ClientResponse): boolean | Promise<boolean> => {
    const { accountId, plan } = route
    const decide = (admitted: Admission) => {
      if (admitted._tag === "Refused") {
        respond(req, res, periodLimitReached("requestsPerMonth", plan, admitted.used, admitted.resetsAt), route)
        return false
      }
      if (res.destroyed) metering.takeBack(accountId)
      return !res.destroyed
    }
    const pending = metering.admit(accountId, plans[plan].requestsPerMonth)
    return pending instanceof Promise ? pending.then(decide) : decide(pending)
  }

  /**
   * Undefined for the owner. A caller is the account that the token speaks for, through a composite too; where the
   * server's machine checks tokens, anybody can make them up, and it is the address.
   */
  const guestOf = (route: Route, req: IncomingMessage, claims: AccessTokenClaims | undefined) => {
    if (claims === undefined) return `address ${addressBucket(addressOf(req, side.trustProxy))}`
    return isGuest(route, claims) ? claims.sub : undefined
  }

  return {
    /** Counts a request; false: it was answered. */
    admit: (
      route: Route,
      claims: AccessTokenClaims | undefined,
      req: IncomingMessage,
      res: ClientResponse
    ): boolean | Promise<boolean> => {
      const guest = guestOf(route, req, claims)
      if (guest === undefined) return admitToMonth(route, req, res)
      const decide = (refusal: GuestRefusal | undefined) => {
        if (refusal === undefined) return admitToMonth(route, req, res)
        respond(req, res, guestRefused(route, refusal, claims !== undefined))
        return false
      }
      const pending = guests.admit(route, guest)
      return pending instanceof Promise ? pending.then(decide) : decide(pending)
    },
    /**
     * The route of a counted request once its server is awake; undefined: it was answered, and counts no longer. A machine
     * that was started for it knows no session of before.
     */
    awaken: async (route: Route, req: IncomingMessage, res: ClientResponse, path: string) => {
      const woken = await wake(route, req, res).catch((error: unknown) => {
        metering.takeBack(route.accountId)
        throw error
      })
      const to = "route" in woken ? await affinity.find(woken.route, req, path) : undefined
      if (!res.destroyed && to !== undefined) return to
      metering.takeBack(route.accountId)
      respond(req, res, "answer" in woken ? woken.answer : await sessionGoneFor(req), route)
      return undefined
    }
  }
}
