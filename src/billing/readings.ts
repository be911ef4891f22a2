import { Duration } from "effect"
import { type Reading } from "./Checkout.ts"
import { eventsOf, firstStates, states, type SubscriptionEvent } from "./subscription-states.ts"
import { type PaidPlan, type SubscriptionRow } from "./Subscription.ts"

/** A processor may be some seconds late with what its own clock decides. */
const lookAgainAfter = Duration.toMillis("1 minute")

/** A canceled subscription is over at its end, also while the processor still says otherwise. */
const eventOf = ({ cancelsAt, event }: Reading, now: Date): SubscriptionEvent =>
  cancelsAt !== null && cancelsAt <= now ? "ended" : event

const dueAt = ({ cancelsAt, dueAt, periodEnd }: Reading, now: Date) => {
  const first = Math.min(...[periodEnd, dueAt, cancelsAt].flatMap((at) => at instanceof Date ? [at.getTime()] : []))
  return new Date(first <= now.getTime() ? now.getTime() + lookAgainAfter : first)
}

const differs = (one: SubscriptionRow, other: SubscriptionRow) =>
  one.plan !== other.plan || one.status !== other.status || one.cancelsAt?.getTime() !== other.cancelsAt?.getTime() ||
  one.currentPeriodEnd.getTime() !== other.currentPeriodEnd.getTime()

/**
 * The row that a reading leads to; undefined where there was none and the reading is not of a plan of ours. A
 * subscription keeps its plan while its price is unknown.
 */
export const rowAfter = (
  before: SubscriptionRow | undefined,
  reading: Reading,
  { now, ...whose }: Pick<SubscriptionRow, "accountId" | "customerId" | "processor"> & { readonly now: Date }
): SubscriptionRow | undefined => {
  const plan = reading.plan ?? before?.plan
  if (plan === undefined) return undefined
  const on = before === undefined ? firstStates : states[before.status].on
  const after: SubscriptionRow = {
    id: reading.id,
    ...whose,
    plan,
    status: on[eventOf(reading, now)],
    currentPeriodStart: reading.periodStart,
    currentPeriodEnd: reading.periodEnd,
    cancelsAt: reading.cancelsAt,
    dueAt: dueAt(reading, now),
    revision: before?.revision ?? 0,
    createdAt: reading.createdAt
  }
  return before !== undefined && differs(before, after) ? { ...after, revision: after.revision + 1 } : after
}

/** A stored subscription as a reading: where the processor can't be asked, or knows it no more. */
export const readingOf = (row: SubscriptionRow, event: SubscriptionEvent = eventsOf[row.status]): Reading => ({
  id: row.id,
  plan: row.plan,
  event,
  periodStart: row.currentPeriodStart,
  periodEnd: row.currentPeriodEnd,
  cancelsAt: row.cancelsAt,
  createdAt: row.createdAt
})

/** The subscription by which an account has its plan: what is paid for before what was played, and then the newest. */
export const currentOf = (rows: ReadonlyArray<SubscriptionRow>): SubscriptionRow | undefined =>
  rows.filter(({ status }) => states[status].hasPlan)
    .sort((a, b) =>
      Number(a.processor === "embedded") - Number(b.processor === "embedded") ||
      b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1)
    )[0]

/** The plan that an account pays for. */
export const planOf = (rows: ReadonlyArray<SubscriptionRow>): PaidPlan | undefined => currentOf(rows)?.plan
