import { type Html, html } from "./html.ts"

export interface ChartProps {
  /** Unique in the page. */
  readonly id: string
  /** What is counted, as a heading. */
  readonly title: string
  /** A count a day, oldest first; `day` as `YYYY-MM-DD`. */
  readonly days: ReadonlyArray<{ readonly day: string; readonly count: number }>
  /** The sentence beside the heading, if not the sum and the best day. */
  readonly says?: string
  /** A count that is marked with a line across. */
  readonly limit?: number
  /** How a count is written. */
  readonly shown?: (count: number) => string
}

const dayFormat = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", timeZone: "UTC" })
export const shownDay = (day: string) => dayFormat.format(new Date(`${day}T00:00:00Z`))
const numberFormat = new Intl.NumberFormat("en")
export const shownNumber = (value: number) => numberFormat.format(value)

const compactFormat = new Intl.NumberFormat("en", { notation: "compact" })

/** The top of the scale: the first of 1, 2, 5, 10, 20, 50, … that is enough. */
export const topOf = (most: number): number => {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, most)))
  return ([1, 2, 5].find((step) => step * power >= most) ?? 10) * power
}

const height = 100
const step = 10
/** A day with anything has a bar that can be seen. */
const least = 2

/** What the picture says, for those who don't see it; the table beside it has each number. */
const described = (days: ChartProps["days"], total: number, shown: (count: number) => string) => {
  const best = days.reduce((most, day) => day.count > most.count ? day : most)
  return total === 0
    ? "None in these days."
    : `${shown(total)} in ${days.length} ${days.length === 1 ? "day" : "days"}; most on ${shownDay(best.day)}: ${
      shown(best.count)
    }.`
}

/**
 * Bars by day, as SVG without text of its own: it stretches to any width, and the labels beside it keep their size.
 */
export const chart = ({ days, id, limit, says, shown = shownNumber, title }: ChartProps): Html => {
  const total = days.reduce((sum, { count }) => sum + count, 0)
  const top = topOf(Math.max(1, limit ?? 0, ...days.map(({ count }) => count)))
  const width = days.length * step
  const line = (y: number) => html`<line x1="0" x2="${width}" y1="${y}" y2="${y}"/>`
  const bars = days.flatMap(({ count, day }, at) => {
    if (count === 0) return []
    const tall = Math.max(least, Math.round(count / top * height * 10) / 10)
    const place = html`x="${at * step + 1}" y="${height - tall}" width="${step - 2}" height="${tall}"`
    return [html`<rect ${place}><title>${shownDay(day)}: ${shown(count)}</title></rect>
`]
  })
  const sentence = says ?? described(days, total, shown)
  const scale = shown === shownNumber ? compactFormat.format(top) : shown(top)
  const limitAt = limit === undefined ? 0 : height - Math.round(limit / top * height * 10) / 10
  const [first, last] = [days[0]?.day ?? "", days.at(-1)?.day ?? ""]
  const plot = html`<div class="plot">
<div class="scale soft" aria-hidden="true"><span>${scale}</span><span>0</span></div>
<svg role="img" aria-labelledby="${id}-title ${id}-desc" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none">
<title id="${id}-title">${title} by day</title>
<desc id="${id}-desc">${sentence} The table below has the numbers of each day.</desc>
${line(0)}${line(height / 2)}${line(height)}
${bars}${limit !== undefined && html`<line class="limit" x1="0" x2="${width}" y1="${limitAt}" y2="${limitAt}"/>`}</svg>
<div class="ends soft" aria-hidden="true"><span>${shownDay(first)}</span>${
    last !== first && html`<span>${shownDay(last)}</span>`
  }</div>
</div>
`
  // An empty plot without a limit tells nothing that the sentence does not.
  return html`<figure class="chart">
<figcaption><strong>${title}</strong> <span class="soft">${sentence}</span></figcaption>
${(total > 0 || limit !== undefined) && plot}</figure>
`
}
