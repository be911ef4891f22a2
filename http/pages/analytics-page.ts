import {
  type DailyAnalytics,
  daysOf,
  type ListingAnalytics,
  type Period,
  type UnmetSearchList
} from "#src/hub/ListingAnalytics.ts"
import { chart, shownDay, shownNumber } from "./chart.ts"
import { document } from "./document.ts"
import { html, type Part } from "./html.ts"
import { shownName } from "./shown.ts"
import { unmetSection } from "./unmet-section.ts"

export interface AnalyticsProps {
  readonly nav: Part
  readonly user: string
  readonly sums: ListingAnalytics
  readonly daily: DailyAnalytics
  readonly unmet: UnmetSearchList
  /** Path of the same page for another period. */
  readonly href: (period: Period) => string
}

const periods = Object.keys(daysOf) as ReadonlyArray<Period>

/** What the service told by day: higher tiers of the listing have more of them. */
const series = [
  { field: "view_count", title: "Views" },
  { field: "click_count", title: "Clicks" },
  { field: "transaction_count", title: "Conversions" }
] as const

const percent = (rate: number) => `${rate.toFixed(2)} %`

const facts = (sums: ListingAnalytics) =>
  [
    ["Views", shownNumber(sums.view_count)],
    ["Clicks", sums.click_count === undefined ? undefined : shownNumber(sums.click_count)],
    ["Click-through rate", sums.click_through_rate === undefined ? undefined : percent(sums.click_through_rate)],
    ["Shown in searches", sums.search_impressions === undefined ? undefined : shownNumber(sums.search_impressions)],
    ["Referrals", sums.referral_clicks === undefined ? undefined : shownNumber(sums.referral_clicks)],
    ["Conversion rate", sums.conversion_rate === undefined ? undefined : percent(sums.conversion_rate)]
  ].flatMap(([name, value]) =>
    value === undefined ? [] : [html`<div><dt>${name}</dt><dd>${value}</dd></div>
`]
  )

const numbers = ({ days }: DailyAnalytics, shown: ReadonlyArray<typeof series[number]>) =>
  html`<details>
<summary>Each day in numbers</summary>
<table>
<caption class="soft">Days are UTC, the last one first.</caption>
<thead><tr><th scope="col">Day</th>${
    shown.map(({ title }) => html`<th scope="col" class="number">${title}</th>`)
  }</tr></thead>
<tbody>
${
    days.toReversed().map((day) =>
      html`<tr><th scope="row"><time datetime="${day.day}">${shownDay(day.day)}</time></th>${
        shown.map(({ field }) => html`<td class="number">${shownNumber(day[field] ?? 0)}</td>`)
      }</tr>
`
    )
  }</tbody>
</table>
</details>`

/** What happened to a listing, for its owner: the same numbers as those of the API. */
export const analyticsPage = ({ daily, href, nav, sums, unmet, user }: AnalyticsProps) => {
  const name = shownName(daily.name, "A listing without a name")
  const shown = series.filter(({ field }) => daily.days[0]?.[field] !== undefined)
  return document({
    title: `${name}: the last ${daysOf[sums.period]} days`,
    wide: true,
    main: html`${nav}
<h1><bdi>${name}</bdi></h1>
<nav class="tabs" aria-label="Period">
${
      periods.map((period) =>
        html`<a href="${href(period)}"${period === sums.period && html` aria-current="page"`}>${daysOf[period]} days</a>
`
      )
    }</nav>
<h2>What happened</h2>
<dl class="facts">
${facts(sums)}</dl>
${
      shown.map(({ field, title }) =>
        chart({ id: field, title, days: daily.days.map((day) => ({ day: day.day, count: day[field] ?? 0 })) })
      )
    }${numbers(daily, shown)}
${
      sums.tier !== "premium" &&
      html`<p class="soft">This listing is ${sums.tier}. ${
        sums.tier === "basic" && "Clicks are shown from tier featured on; "
      }${
        sums.tier === "basic" ? "searches" : "Searches"
      } it was shown in, referrals and conversions are shown for premium ones. The tier follows your plan.</p>`
    }
${unmetSection(unmet)}`,
    footer: html`<p>Signed in as <strong><bdi>${user}</bdi></strong>. Counts appear here within seconds.</p>`
  })
}
