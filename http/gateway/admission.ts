import { type ClientResponse } from "#http/connection/client-response.ts"
import { plans } from "#src/plans/Plan.ts"
import { type Route } from "#src/routing/Route.ts"
import { type Admission } from "#src/usage/month-budget.ts"
import { type RequestMetering } from "#src/usage/RequestMetering.ts"
import { type IncomingMessage } from "node:http"
import { type Affinity, sessionGone } from "./affinity.ts"
import { type Answer } from "./answer.ts"
import { monthlyLimitReached } from "./limits.ts"
import { type waker } from "./wake.ts"

type Respond = (req: IncomingMessage, res: ClientResponse, reply: Answer, letIn?: Route) => void

interface AdmissionOptions {
  readonly metering: RequestMetering
  readonly affinity: Affinity
  readonly wake: ReturnType<typeof waker>
  readonly respond: Respond
}

/** Counts requests of the month, and wakes servers for those that are counted. What comes to nothing is answered here. */
export const admission = ({ affinity, metering, respond, wake }: AdmissionOptions) => ({
  /** Counts a request; false: it was answered. */
  admit: (route: Route, req: IncomingMessage, res: ClientResponse): boolean | Promise<boolean> => {
    const { accountId, plan } = route
    const decide = (admitted: Admission) => {
      if (admitted._tag === "Refused") {
        respond(req, res, monthlyLimitReached(plan, admitted.used, admitted.resetsAt), route)
        return false
      }
      if (res.destroyed) metering.takeBack(accountId)
      return !res.destroyed
    }
    const pending = metering.admit(accountId, plans[plan].requestsPerMonth)
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
    respond(req, res, "answer" in woken ? woken.answer : sessionGone, route)
    return undefined
  }
})
