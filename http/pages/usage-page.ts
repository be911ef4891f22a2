import { type LimitUse, type UsageReport } from "#src/limits/UsageReport.ts"
import { inBytes } from "#src/shared/bytes.ts"
import { monthOf } from "#src/usage/month.ts"
import { chart, shownDay, shownNumber } from "./chart.ts"
import { document } from "./document.ts"
import { html, type Part } from "./html.ts"
import { type PlanHeld, planWords, shownDate } from "./plan-words.ts"
import { isUsedUp, shownMoment, usageNotes } from "./usage-notes.ts"

export interface UsageProps {
  readonly nav: Part
  readonly user: string
  readonly held: PlanHeld
  readonly report: UsageReport
  /** What there is to choose from, with the paths of their pages: months, `YYYY-MM`, and the current period (null). */
  readonly months: ReadonlyArray<{ readonly month: string | null; readonly href: string }>
}

const monthFormat = new Intl.DateTimeFormat("en", { month: "long", year: "numeric", timeZone: "UTC" })
const shownMonth = (month: string) => monthFormat.format(new Date(`${month}-01T00:00:00Z`))

/** A calendar month by its name, a subscription's period by its dates. */
const shownTime = ({ resetsAt, startsAt }: UsageReport) => {
  const { end, start } = monthOf(startsAt.getTime())
  return start.getTime() === startsAt.getTime() && end.getTime() === resetsAt.getTime()
    ? `in ${monthFormat.format(startsAt)}`
    : `from ${shownDate(startsAt)} to ${shownDate(resetsAt)}`
}

const seconds = (count: number) => `${shownNumber(count)} s`

const limitWords: Readonly<Record<LimitUse["limit"], readonly [name: string, shown: (count: number) => string]>> = {
  requestsPerMonth: ["Requests in the current period", shownNumber],
  computeSecondsPerMonth: ["Compute in the current period", seconds],
  servers: ["Servers", shownNumber],
  projects: ["Projects", shownNumber],
  businesses: ["Businesses", shownNumber],
  previewBytes: ["Imports that are not confirmed", inBytes],
  documentBytes: ["Capability documents", inBytes],
  imageBytes: ["Images", inBytes],
  uploadBytes: ["Pushed images", inBytes],
  region: ["Servers in regions that the plan does not have", shownNumber],
  autoStop: ["Servers that never stop when idle", shownNumber]
}

const isOfServers = ({ limit }: LimitUse) => limit === "region" || limit === "autoStop"

const allowedOf = ({ allowed, limit }: LimitUse) => {
  if (allowed === null) return "No limit"
  return allowed === 0 ? "None" : limitWords[limit][1](allowed)
}

const markOf = (use: LimitUse) =>
  use.over ? "Over the limit" : isUsedUp(use) ? "Used up" : use.reached === 80 && "More than 80 %"

const limitRow = (use: LimitUse) => {
  const [name, shown] = limitWords[use.limit]
  const mark = markOf(use)
  return html`<tr><th scope="row">${name}${mark !== false && html` <strong class="fault">${mark}</strong>`}</th>
<td class="number">${shown(use.used)}</td><td class="number">${allowedOf(use)}</td></tr>
`
}

const series = [
  { field: "requestCount", title: "Requests", shown: shownNumber },
  { field: "computeSeconds", title: "Compute seconds", shown: shownNumber },
  { field: "bandwidthBytes", title: "Bytes of requests and answers", shown: inBytes }
] as const

/** The period's requests as they add up, against their limit. */
const towardsLimit = ({ days, limits, usage: { requestCount } }: UsageReport) => {
  const [requests] = limits
  const allowed = requests?.limit === "requestsPerMonth" ? requests.allowed : null
  let sum = 0
  const sums = days.map(({ day, requestCount }) => ({ day, count: sum += requestCount }))
  const says = allowed === null
    ? `${shownNumber(requestCount)} until now; the plan has no limit.`
    : `${shownNumber(requestCount)} of ${shownNumber(allowed)}, which the dashed line marks.`
  return chart({
    id: "towards-limit",
    title: "Requests of the period, added up",
    days: sums,
    says,
    ...(allowed === null ? {} : { limit: allowed })
  })
}

const numbers = ({ days }: UsageReport) =>
  html`<details>
<summary>Each day in numbers</summary>
<table>
<caption class="soft">Days are UTC, the last one first.</caption>
<thead><tr><th scope="col">Day</th><th scope="col" class="number">Requests</th><th scope="col" class="number">Compute</th>
<th scope="col" class="number">Bytes</th></tr></thead>
<tbody>
${
    days.toReversed().map(({ bandwidthBytes, computeSeconds, day, requestCount }) =>
      html`<tr><th scope="row"><time datetime="${day}">${shownDay(day)}</time></th>
<td class="number">${shownNumber(requestCount)}</td><td class="number">${seconds(computeSeconds)}</td>
<td class="number">${inBytes(bandwidthBytes)}</td></tr>
`
    )
  }</tbody>
</table>
</details>`

/** What an account uses of its plan: the same numbers as those of the API. */
export const usagePage = ({ held, months, nav, report, user }: UsageProps) => {
  const { days, limits, month, resetsAt } = report
  const title = `Usage ${shownTime(report)}`
  return document({
    title,
    wide: true,
    main: html`${nav}
<h1>${title}</h1>
<nav class="tabs" aria-label="Month">
${
      months.map((choice) =>
        html`<a href="${choice.href}"${choice.month === month && html` aria-current="page"`}>${
          choice.month === null ? "Current period" : shownMonth(choice.month)
        }</a>
`
      )
    }</nav>
${usageNotes(held, report)}
<p>${planWords(held)} ${
      month === null ? html`The current period ends on ${shownMoment(resetsAt)}.` : "Days and months are UTC."
    }</p>
${
      days.length === 0
        ? html`<p>This month has not begun.</p>`
        : html`${month === null && towardsLimit(report)}<h2>By day</h2>
${
          series.map(({ field, shown, title }) =>
            chart({ id: field, title, shown, days: days.map((day) => ({ day: day.day, count: day[field] })) })
          )
        }${numbers(report)}`
    }
<h2 id="limits">Limits of the plan</h2>
<table aria-labelledby="limits">
<thead><tr><th scope="col">What</th><th scope="col" class="number">Used</th><th scope="col" class="number">Allowed</th>
</tr></thead>
<tbody>
${limits.filter((use) => use.allowed !== null || !isOfServers(use)).map(limitRow)}</tbody>
</table>`,
    footer: html`<p>Signed in as <strong><bdi>${user}</bdi></strong>. Counts appear here within seconds.</p>`
  })
}
