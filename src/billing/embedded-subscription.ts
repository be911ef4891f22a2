import { Duration, Schema } from "effect"
import { type Reading } from "./Checkout.ts"
import { PaidPlan } from "./Subscription.ts"

/**
 * How a subscription of the stand-in goes on, as its checkout page asks: each renewal is paid; the first is paid three
 * days late; the first is never paid, and a week later the subscription ends; or it begins with a week of trial.
 */
export const Renewals = Schema.Literal("paid", "late", "declined", "trial")
export type Renewals = typeof Renewals.Type

/** A row of embedded_subscriptions. */
export const EmbeddedSubscription = Schema.Struct({
  id: Schema.String,
  plan: PaidPlan,
  startedAt: Schema.DateFromSelf,
  renewals: Renewals,
  cancelsAt: Schema.NullOr(Schema.DateFromSelf)
})
export type EmbeddedSubscription = typeof EmbeddedSubscription.Type

const week = Duration.toMillis("7 days")
const latePayment = Duration.toMillis("3 days")

const after = (at: Date, millis: number) => new Date(at.getTime() + millis)

/** The same day and time so many months later; the month's last day where it has no such day. */
export const monthsAfter = (start: Date, months: number) => {
  const [year, month] = [start.getUTCFullYear(), start.getUTCMonth() + months]
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  const sinceMidnight = start.getTime() % Duration.toMillis("1 day")
  return new Date(Date.UTC(year, month, Math.min(start.getUTCDate(), lastDay)) + sinceMidnight)
}

/** The month around `now` of those that are counted from `anchor`. */
const periodAround = (anchor: Date, now: Date) => {
  let months = Math.max(
    0,
    (now.getUTCFullYear() - anchor.getUTCFullYear()) * 12 + now.getUTCMonth() - anchor.getUTCMonth()
  )
  if (months > 0 && monthsAfter(anchor, months) > now) months--
  return { periodStart: monthsAfter(anchor, months), periodEnd: monthsAfter(anchor, months + 1) }
}

type Moment = Pick<Reading, "event" | "periodStart" | "periodEnd"> & { readonly dueAt?: Date }

const inTrial = (startedAt: Date): Moment => ({
  event: "trialBegan",
  periodStart: startedAt,
  periodEnd: after(startedAt, week)
})

/** The second month, whose payment fails: until `over` it is tried again. */
const unpaidMonth = (startedAt: Date, over: Date, now: Date): Moment => ({
  event: now < over ? "paymentFailed" : "ended",
  periodStart: monthsAfter(startedAt, 1),
  periodEnd: monthsAfter(startedAt, 2),
  dueAt: over
})

const momentOf = ({ renewals, startedAt }: EmbeddedSubscription, now: Date): Moment => {
  const trialEnds = after(startedAt, week)
  if (renewals === "trial" && now < trialEnds) return inTrial(startedAt)
  const anchor = renewals === "trial" ? trialEnds : startedAt
  const firstRenewal = monthsAfter(anchor, 1)
  if (now >= firstRenewal && renewals === "declined") return unpaidMonth(anchor, after(firstRenewal, week), now)
  const paidLate = after(firstRenewal, latePayment)
  if (now >= firstRenewal && now < paidLate && renewals === "late") return unpaidMonth(anchor, paidLate, now)
  return { event: "paid", ...periodAround(anchor, now) }
}

/**
 * The subscription at a moment. It is all a function of how it began and of the time, so that the stand-in needs
 * nobody to move it on.
 */
export const readingAt = (subscription: EmbeddedSubscription, now: Date): Reading => {
  const { cancelsAt, id, plan, startedAt } = subscription
  const over = cancelsAt !== null && cancelsAt <= now
  // Of a subscription that is over, the last moment counts.
  const moment = momentOf(subscription, over ? after(cancelsAt, -1) : now)
  return { id, plan, cancelsAt, createdAt: startedAt, ...moment, ...(over ? { event: "ended" as const } : {}) }
}
