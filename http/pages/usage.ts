import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { Billing } from "#src/billing/Billing.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { UsageQuery } from "#src/limits/UsageReport.ts"
import { UsageReports } from "#src/limits/UsageReports.ts"
import { BadRequest, decodeInput } from "#src/shared/Failure.ts"
import { now } from "#src/shared/now.ts"
import { monthKey, monthOf } from "#src/usage/month.ts"
import { Effect } from "effect"
import { accountNav } from "./account-nav.ts"
import { currentQuery, linksOf } from "./links.ts"
import { toUsage } from "./own-page.ts"
import { page, seeOther } from "./respond.ts"
import { usagePage } from "./usage-page.ts"
import { visitor } from "./visit.ts"

const decode = decodeInput(UsageQuery)

/** The last months, the current one first. */
const monthsUntil = (at: Date, count: number) => {
  const months: Array<string> = []
  for (let millis = at.getTime(); months.length < count; millis = monthOf(millis).start.getTime() - 1) {
    months.push(monthKey(millis).slice(0, 7))
  }
  return months
}

/** The page where an account sees what it uses of its plan. Access is the service's matter. */
export const makeUsage = Effect.gen(function*() {
  const billing = yield* Billing
  const reports = yield* UsageReports
  const links = linksOf(yield* CurrentSettings)

  return Effect.gen(function*() {
    const actor = yield* visitor
    if (actor === undefined) return seeOther(links.signIn(toUsage))
    const query = yield* Effect.mapError(
      decode(Object.fromEntries(new URLSearchParams(yield* currentQuery))),
      ({ issues, message }) => new BadRequest({ reason: message, issues })
    )
    const months = monthsUntil(yield* now, 3)
    const [held, report] = yield* Effect.provideService(
      Effect.all([billing.held, reports.get(query)], { concurrency: 2 }),
      CurrentActor,
      actor
    )
    // Without a subscription the current period is the calendar month.
    const past = held.current === undefined ? months.slice(1) : months
    return page(usagePage({
      nav: accountNav(links, "usage"),
      user: actor.email,
      held,
      report,
      months: [
        { month: null, href: links.usage("") },
        ...past.map((month) => ({ month, href: links.usage(`month=${month}`) }))
      ]
    }))
  })
})
