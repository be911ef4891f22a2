import { type LimitUse, type UsageReport } from "#src/limits/UsageReport.ts"
import { monthlyPrice } from "#src/plans/Plan.ts"
import { type PeriodLimit, periodRefusal } from "#src/plans/PlanLimitReached.ts"
import { shownNumber } from "./chart.ts"
import { type Html, html, type Part } from "./html.ts"
import { lateWords, type PlanHeld } from "./plan-words.ts"

const momentFormat = new Intl.DateTimeFormat("en", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" })

export const shownMoment = (moment: Date) =>
  html`<time datetime="${moment.toISOString()}">${momentFormat.format(moment)} UTC</time>`

/** Hosted servers answer 429 then, which is before it is more than allowed. */
export const isUsedUp = (use: LimitUse): use is LimitUse & { readonly limit: PeriodLimit } =>
  !isKept(use) && use.allowed !== null && use.used >= use.allowed

/** What is there and stays; numbers of the period pass with it. */
const isKept = ({ limit }: LimitUse) => limit !== "requestsPerMonth" && limit !== "computeSecondsPerMonth"

const usedUpWords: Readonly<Record<PeriodLimit, readonly [what: string, allowed: string, follows: string]>> = {
  requestsPerMonth: ["requests", "requests a month", "your servers' clients are refused"],
  computeSecondsPerMonth: [
    "compute seconds",
    "seconds of running machines a month",
    "your servers sleep, and their clients are refused"
  ]
}

const note = (id: string, heading: string, words: Html) =>
  html`<section class="note warn" aria-labelledby="${id}">
<h2 id="${id}">${heading}</h2>
<p>${words}</p>
</section>
`

const lateNote = ({ current }: PlanHeld) => {
  const words = current && lateWords(current)
  return words !== undefined && note("late", "The last payment failed", html`${words}`)
}

/** The report of a past month has limits of now, and not the moment when they begin anew. */
const usedUpNote = ({ limits, month, plan, resetsAt }: UsageReport) => {
  const use = limits.find(isUsedUp)
  if (use === undefined) return false
  const [what, amount, follows] = usedUpWords[use.limit]
  const { allowed, nextPlan } = periodRefusal(use.limit, plan, use.used, resetsAt).details
  const until = month === null ? html`Until ${shownMoment(resetsAt)}` : html`Until the current period ends`
  return note(
    "used-up",
    `The ${what} of the period are used up`,
    html`The ${plan} plan allows ${shownNumber(allowed ?? 0)} ${amount}. ${until} ${follows}
(429). ${nextPlan !== null && `The ${nextPlan} plan (${monthlyPrice(nextPlan)}) allows more at once.`}`
  )
}

const overNote = ({ limits, plan }: UsageReport) =>
  limits.some((use) => use.over && isKept(use)) && note(
    "over",
    `More than the ${plan} plan allows`,
    html`Nothing is taken away: what is marked below stays as it is. You can't add to it until it is within the limit, or
the plan is a larger one.`
  )

/** What an account should know before the numbers. */
export const usageNotes = (held: PlanHeld, report: UsageReport): ReadonlyArray<Part> => [
  lateNote(held),
  usedUpNote(report),
  overNote(report)
]
