import { byDay, isWeekday, weekdays } from "./opening-day.ts"
import { type DayHours, type Hours } from "./ReadyConfig.ts"

const [sunday, ...others] = weekdays
const week = [...others, sunday]

const titled = (day: string) => day.charAt(0).toUpperCase() + day.slice(1)

/** Times as HH:MM sort as texts. */
const spanOf = (span: DayHours) =>
  span === "closed"
    ? "closed"
    : `${span.open} to ${span.close}${span.close <= span.open ? " the day after" : ""}`

/** Of the dates that differ from their weekday the latest so many. */
const mostDates = 20

/** Opening hours in words, from Monday on. Past dates stay: what is written must not change by itself with the day. */
export const hoursOf = (hours: Hours): ReadonlyArray<{ readonly day: string; readonly hours: string }> => {
  const days = byDay(hours)
  const dates = Object.keys(days).filter((key) => !isWeekday(key)).sort().slice(-mostDates)
  return [...week, ...dates].flatMap((day) => {
    const span = days[day]
    return span === undefined ? [] : [{ day: titled(day), hours: spanOf(span) }]
  })
}

/** The same as a Markdown list. */
export const hoursLines = (hours: Hours): ReadonlyArray<string> =>
  hoursOf(hours).map(({ day, hours }) => `- ${day}: ${hours}`)
