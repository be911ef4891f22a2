import { dateOf, type Weekday, weekdayOf } from "./opening-day.ts"
import type { DayHours, Hours } from "./ReadyConfig.ts"

/** Minutes since 1970-01-01T00:00 on the business's own clock: a ReadyConfig names no time zone. */
export type LocalMinute = number

export const minutesPerDay = 1440
/** How many days ahead the next opening or closing is searched. */
export const horizonDays = 800

export const formatLocal = (at: LocalMinute): string => {
  const pad = (n: number) => String(n).padStart(2, "0")
  const day = Math.floor(at / minutesPerDay)
  const minute = at - day * minutesPerDay
  return `${dateOf(day)}T${pad(Math.floor(minute / 60))}:${pad(minute % 60)}`
}

export interface Span {
  readonly start: LocalMinute
  readonly end: LocalMinute
}

const minuteOfDay = (clock: string) => +clock.slice(0, 2) * 60 + +clock.slice(3)

/** Finds the hours of a day: a date key overrides its weekday, in any case. Undefined: nothing is stated. */
const lookup = (hours: Hours): (day: number) => DayHours | undefined => {
  const table = new Map(Object.entries(hours).map(([key, value]) => [key.toLowerCase(), value]))
  return (day) => table.get(dateOf(day)) ?? table.get(weekdayOf(day))
}

/** A span belongs to the day it opens on; `close` at or before `open` is on the next day (equal: 24 hours). */
const spanOf = (day: number, entry: DayHours | undefined): Span | undefined => {
  if (entry === undefined || entry === "closed") return undefined
  const open = minuteOfDay(entry.open)
  const close = minuteOfDay(entry.close)
  return {
    start: day * minutesPerDay + open,
    end: day * minutesPerDay + (close <= open ? close + minutesPerDay : close)
  }
}

/** Spans from the day before `at` to the horizon; those that touch or overlap are merged. */
const spansAround = (hours: Hours, at: LocalMinute): Array<Span> => {
  const of = lookup(hours)
  const today = Math.floor(at / minutesPerDay)
  const merged: Array<Span> = []
  // Yesterday's span may reach into today; an older one cannot, since none lasts more than 24 hours.
  for (let day = today - 1; day <= today + horizonDays; day++) {
    const span = spanOf(day, of(day))
    const last = merged.at(-1)
    if (span === undefined) continue
    if (last !== undefined && span.start <= last.end) {
      merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, span.end) }
    } else merged.push(span)
  }
  return merged
}

export interface Opening {
  /** Null when unknown: the day's hours are not stated and no earlier opening reaches into it. */
  readonly isOpen: boolean | null
  /** Next opening; while open, the one after the current. Null: none within the horizon. */
  readonly opensNext: LocalMinute | null
  /** Next closing. Null: it never opens, or does not close, within the horizon. */
  readonly closesNext: LocalMinute | null
}

export const openingAt = (hours: Hours, at: LocalMinute): Opening => {
  const spans = spansAround(hours, at)
  const current = spans.find((span) => span.start <= at && at < span.end)
  const next = spans.find((span) => span.start > at)
  // The end of a span that reaches the horizon is unknown.
  const closes = current ?? next
  const edge = (Math.floor(at / minutesPerDay) + horizonDays) * minutesPerDay
  return {
    isOpen: current !== undefined || (lookup(hours)(Math.floor(at / minutesPerDay)) === undefined ? null : false),
    opensNext: next?.start ?? null,
    closesNext: closes === undefined || closes.end >= edge ? null : closes.end
  }
}

/** Whether it is open at a time; null when that day's hours are not stated, as in `Opening`. Cheaper than `openingAt`. */
export const isOpenAt = (hours: Hours, at: LocalMinute): boolean | null => {
  const of = lookup(hours)
  const today = Math.floor(at / minutesPerDay)
  const isOpen = [today - 1, today].some((day) => {
    const span = spanOf(day, of(day))
    return span !== undefined && span.start <= at && at < span.end
  })
  return isOpen || (of(today) === undefined ? null : false)
}

export interface DayLine {
  readonly status: "open" | "closed" | "not stated"
  readonly open: string | null
  readonly close: string | null
  readonly closesNextDay: boolean
}

const dayLine = (entry: DayHours | undefined): DayLine =>
  entry === undefined || entry === "closed"
    ? { status: entry ?? "not stated", open: null, close: null, closesNextDay: false }
    : { status: "open", ...entry, closesNextDay: minuteOfDay(entry.close) <= minuteOfDay(entry.open) }

const monday: ReadonlyArray<Weekday> = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

/** All hours: Monday to Sunday, then the dates in order. */
export const allHours = (hours: Hours) => {
  const table = new Map(Object.entries(hours).map(([key, value]) => [key.toLowerCase(), value]))
  return {
    week: monday.map((day) => ({ day, ...dayLine(table.get(day)) })),
    dates: [...table].filter(([key]) => /^\d/.test(key)).sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([date, entry]) => ({ date, ...dayLine(entry) }))
  }
}
