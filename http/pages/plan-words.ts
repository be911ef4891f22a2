import { type SubscriptionRow } from "#src/billing/Subscription.ts"
import { monthlyPrice, type PlanName } from "#src/plans/Plan.ts"

interface Paid extends Pick<SubscriptionRow, "plan" | "status" | "cancelsAt" | "currentPeriodEnd"> {
  /** Not where its processor is not in use any more: it ends with its period. */
  readonly renewable: boolean
}

const dateFormat = new Intl.DateTimeFormat("en", { dateStyle: "long", timeZone: "UTC" })
export const shownDate = (date: Date) => dateFormat.format(date)

/** How a payment that failed goes on; undefined where none has. */
export const lateWords = ({ cancelsAt, renewable, status }: Paid) => {
  if (status !== "past_due" || !renewable) return undefined
  const tried = "The payment processor tries again: see to it that your card can be charged."
  return cancelsAt === null ? `${tried} Until then you keep the plan; if it is not paid, the free plan follows.` : tried
}

/** What a subscription costs, or what follows it. */
const costWords = ({ cancelsAt, currentPeriodEnd, plan, renewable, status }: Paid) => {
  if (cancelsAt !== null) {
    const canceled = status === "trialing" ? "This is a trial that was canceled" : "The subscription was canceled"
    return `${canceled}: the ${plan} plan ends on ${shownDate(cancelsAt)}, and the free plan follows.`
  }
  if (!renewable) {
    return `This installation no longer uses the payment processor of your subscription: the ${plan} plan ends on ${
      shownDate(currentPeriodEnd)
    }, and the free plan follows.`
  }
  if (status === "past_due") return `It costs ${monthlyPrice(plan)}, and the last payment failed.`
  return status === "trialing"
    ? `This is a trial: from ${shownDate(currentPeriodEnd)} on it costs ${monthlyPrice(plan)}.`
    : `It costs ${monthlyPrice(plan)}, and is renewed on ${shownDate(currentPeriodEnd)}.`
}

/** All about a subscription, a paragraph each. */
export const subscriptionWords = (paid: Paid) => {
  const late = lateWords(paid)
  return late === undefined ? [costWords(paid)] : [costWords(paid), late]
}

export interface PlanHeld {
  readonly plan: PlanName
  readonly current: Paid | undefined
  /** Whether there was a subscription before. */
  readonly subscribed: boolean
}

/** Which plan an account is on and by what right: its subscription, the operator's grant, or none. */
export const planWords = ({ current, plan, subscribed }: PlanHeld) => {
  const on = `You are on the ${plan} plan`
  if (current?.plan === plan) return `${on}. ${costWords(current)}`
  const granted = `${on}, which the operator of this installation granted: nothing is charged for it.`
  // What the operator does is independent of what is paid.
  if (current !== undefined) {
    return `${granted} Your subscription to the ${current.plan} plan goes on. ${costWords(current)}`
  }
  if (plan !== "free") return granted
  return subscribed ? `${on}: your subscription has ended.` : `${on}, which costs nothing.`
}
