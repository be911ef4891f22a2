import { type Renewals } from "#src/billing/embedded-subscription.ts"
import { type PaidPlan } from "#src/billing/Subscription.ts"
import { monthlyPrice, plans } from "#src/plans/Plan.ts"
import { shownNumber } from "./chart.ts"
import { document } from "./document.ts"
import { type Fault, faultSummary, titled } from "./fields.ts"
import { html } from "./html.ts"

export interface CheckoutProps {
  readonly action: string
  readonly ticket: string
  readonly plan: PaidPlan
  readonly faults: ReadonlyArray<Fault>
  /** The one that is chosen. */
  readonly renewals: Renewals
}

/** For sentences and headings. */
export const planTitle = (plan: PaidPlan) => plan.charAt(0).toUpperCase() + plan.slice(1)

const allowed = (limit: number | null) => limit === null ? "No limit" : shownNumber(limit)

const row = (term: string, value: string) =>
  html`<div><dt>${term}</dt><dd>${value}</dd></div>
`

const stories: ReadonlyArray<readonly [Renewals, string]> = [
  ["paid", "Each renewal is paid"],
  ["late", "The first renewal is declined, and paid three days late"],
  ["declined", "The first renewal is declined, and the subscription ends after a week"],
  ["trial", "Begin with a week of trial, then pay"]
]

/** The page that stands in for a payment processor's, where whoever develops decides how the payment goes. */
export const checkoutPage = ({ action, faults, plan, renewals, ticket }: CheckoutProps) => {
  const { quotas, requestsPerMonth } = plans[plan]
  return document({
    title: titled(`Pay for the ${planTitle(plan)} plan`, faults),
    main: html`<h1>Pay for the ${planTitle(plan)} plan</h1>
${faultSummary(faults)}
<section class="note warn" aria-labelledby="stand-in">
<h2 id="stand-in">No money moves here</h2>
<p>This page stands in for a payment processor while Berth is developed: you decide how the payment goes.</p>
</section>
<dl>
${row("Price", `${monthlyPrice(plan)}, renewed each month until canceled`)}${row("Servers", allowed(quotas.servers))}${
      row("Requests a month", allowed(requestsPerMonth))
    }</dl>
<form method="post" action="${action}">
<input type="hidden" name="ticket" value="${ticket}">
<fieldset>
<legend>What happens afterwards</legend>
${
      stories.map(([value, words]) =>
        html`<label class="radio"><input type="radio" name="renewals" value="${value}"${
          value === renewals && html` checked`
        }> ${words}</label>
`
      )
    }</fieldset>
<div class="choices">
<button class="act" name="decision" value="pay">Subscribe</button>
<button name="decision" value="decline">Decline</button>
<button name="decision" value="cancel">Cancel</button>
</div>
</form>`
  })
}
