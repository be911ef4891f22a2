export const weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"] as const
export type Weekday = (typeof weekdays)[number]

const dayMs = 86_400_000

/** Accepts weekday names in any case. */
export const isWeekday = (key: string): boolean => weekdays.some((day) => day === key.toLowerCase())

/** The keys of hours that repeat the day of an earlier key, in another case. */
export const repeatedDays = (hours: Readonly<Record<string, unknown>>): ReadonlyArray<string> => {
  const days = Object.keys(hours).map((key) => key.toLowerCase())
  return Object.keys(hours).filter((_, at) => days.indexOf(days[at] ?? "") < at)
}

/** Hours with their days in lower case. */
export const byDay = <A>(hours: Readonly<Record<string, A>>): Readonly<Record<string, A>> =>
  Object.fromEntries(Object.entries(hours).map(([key, value]) => [key.toLowerCase(), value]))

/** Days since 1970-01-01 of a date that exists; undefined for 2025-02-30 and for anything not YYYY-MM-DD. */
export const dayNumber = (date: string): number | undefined => {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) return undefined
  const ms = Date.parse(`${date}T00:00:00Z`)
  return Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== date ? undefined : ms / dayMs
}

export const isCalendarDate = (key: string): boolean => dayNumber(key) !== undefined

export const dateOf = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10)

/** 1970-01-01 was a Thursday. */
export const weekdayOf = (day: number): Weekday => weekdays[(((day + 4) % 7) + 7) % 7] ?? "sunday"
