import { dateOf, dayNumber, type Weekday, weekdayOf } from "#src/format/opening-day.ts"
import type { DayHours, Hours } from "#src/format/ReadyConfig.ts"
import { Either } from "effect"
import { brief } from "./Tool.ts"

/** Minutes since 1970-01-01T00:00 on the business's own clock: a ReadyConfig names no time zone. */
export type LocalMinute = number

/** Part of every answer about times. */
export const localClock = "Times are on the business's own clock, where it is; its time zone is not stated"

const perDay = 1440
/** How many days ahead the next opening or closing is searched. */
export const horizonDays = 800

/** Reads `2025-06-01T19:30`, with optional seconds. Undefined when it is not a valid time. */
export const parseAt = (text: string): LocalMinute | undefined => {
  const match = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}):(\d{2})(:\d{2}([.,]\d+)?)?$/.exec(text.trim())
  if (match === null) return undefined
  const [, date = "", hours = "", minutes = "", seconds = ":00"] = match
  const day = dayNumber(date)
  // With these bounds every date within the horizon can be written as YYYY-MM-DD.
  if (
    day === undefined || date < "1970" || date > "9990" || +hours > 23 || +minutes > 59 || +seconds.slice(1, 3) > 60
  ) {
    return undefined
  }
  return day * perDay + +hours * 60 + +minutes
}

const offset = /([Zz]|[+-]\d{2}(:?\d{2})?)$/

/**
 * The time that a caller sent, or a sentence that says how to write it. A time with `Z` or an offset is rejected: it
 * can't be converted to the business's clock without its time zone, and ignoring the offset would answer for the wrong
 * time.
 */
export const parseMoment = (text: string): Either.Either<LocalMinute, string> => {
  const moment = parseAt(text)
  if (moment !== undefined) return Either.right(moment)
  const how = "Write \"at\" as YYYY-MM-DDTHH:MM in the business's local time, for example 2026-03-14T19:30"
  return Either.left(
    parseAt(text.trim().replace(offset, "")) === undefined
      ? `"${brief(text)}" is not a date and time. ${how}.`
      : `"${brief(text)}" can't be converted: the business's time zone is not known. ${how}, without Z or an offset.`
  )
}

export const formatLocal = (at: LocalMinute): string => {
  const pad = (n: number) => String(n).padStart(2, "0")
  const day = Math.floor(at / perDay)
  const minute = at - day * perDay
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
  return { start: day * perDay + open, end: day * perDay + (close <= open ? close + perDay : close) }
}

/** Spans from the day before `at` to the horizon; those that touch or overlap are merged. */
const spansAround = (hours: Hours, at: LocalMinute): Array<Span> => {
  const of = lookup(hours)
  const today = Math.floor(at / perDay)
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
  const edge = (Math.floor(at / perDay) + horizonDays) * perDay
  return {
    isOpen: current !== undefined || (lookup(hours)(Math.floor(at / perDay)) === undefined ? null : false),
    opensNext: next?.start ?? null,
    closesNext: closes === undefined || closes.end >= edge ? null : closes.end
  }
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
