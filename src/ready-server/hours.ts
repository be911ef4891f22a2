import { dayNumber } from "#src/format/opening-day.ts"
import { type LocalMinute, minutesPerDay } from "#src/format/opening-hours.ts"
import { Either } from "effect"
import { brief } from "./Tool.ts"

/** Part of every answer about times. */
export const localClock = "Times are on the business's own clock, where it is; its time zone is not stated"

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
  return day * minutesPerDay + +hours * 60 + +minutes
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
