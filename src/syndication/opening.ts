import { formatLocal, isOpenAt, openingAt } from "#src/format/opening-hours.ts"
import { type Hours } from "#src/format/ReadyConfig.ts"
import { localMinuteAt, type Place, timeZoneOf } from "./time-zone.ts"

interface Opened extends Place {
  readonly hours: Hours
}

const clockAt = (place: Place, millis: number) => {
  const timeZone = timeZoneOf(place)
  const at = timeZone === undefined ? undefined : localMinuteAt(timeZone, millis)
  return timeZone === undefined || at === undefined ? undefined : { timeZone, at }
}

/** Whether a business is open at an instant; null when its time zone or that day's hours are not known. */
export const isOpenNow = (business: Opened, millis: number): boolean | null => {
  if (Object.keys(business.hours).length === 0) return null
  const clock = clockAt(business, millis)
  return clock === undefined ? null : isOpenAt(business.hours, clock.at)
}

/** The same with the next times, on the business's own clock. */
export const openingNow = (business: Opened, millis: number) => {
  const clock = clockAt(business, millis)
  if (clock === undefined) return { isOpenNow: null, timeZone: null, closesAt: null, opensAt: null }
  const { closesNext, isOpen, opensNext } = openingAt(business.hours, clock.at)
  return {
    isOpenNow: isOpen,
    timeZone: clock.timeZone,
    closesAt: isOpen !== true || closesNext === null ? null : formatLocal(closesNext),
    opensAt: opensNext === null ? null : formatLocal(opensNext)
  }
}
