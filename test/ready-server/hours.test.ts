import { dateOf, dayNumber, weekdayOf, weekdays } from "#src/format/opening-day.ts"
import { allHours, formatLocal, isOpenAt, openingAt } from "#src/format/opening-hours.ts"
import type { DayHours, Hours } from "#src/format/ReadyConfig.ts"
import { parseAt } from "#src/ready-server/hours.ts"
import { FastCheck as fc } from "effect"
import { expect, it } from "vitest"

const pad = (n: number) => String(n).padStart(2, "0")
const clock = (minute: number) => `${pad(Math.floor(minute / 60))}:${pad(minute % 60)}`

// Coarse times make touching, overlapping and past-midnight spans common.
const time = fc.integer({ min: 0, max: 47 }).map((half) => clock(half * 30))
const day: fc.Arbitrary<DayHours> = fc.oneof(
  { weight: 1, arbitrary: fc.constant("closed" as const) },
  { weight: 3, arbitrary: fc.record({ open: time, close: fc.oneof(time, fc.constant("24:00")) }) }
)
const base = dayNumber("2026-03-01") ?? 0
const date = fc.integer({ min: -3, max: 12 }).map((offset) => dateOf(base + offset))
const hours: fc.Arbitrary<Hours> = fc.tuple(
  fc.dictionary(fc.constantFrom(...weekdays), day, { maxKeys: 7 }),
  fc.dictionary(date, day, { maxKeys: 4 })
).map(([week, dates]) => ({ ...week, ...dates }))
const moment = fc.integer({ min: 0, max: 9 * 48 }).map((half) => base * 1440 + half * 30)

/** The rule said the long way: is some day's span, that one's or the one before's, around this minute? */
const openByScan = (hours: Hours, at: number): boolean =>
  [0, -1].some((back) => {
    const number = Math.floor(at / 1440) + back
    const entry = hours[dateOf(number)] ?? hours[weekdayOf(number)]
    if (entry === undefined || entry === "closed") return false
    const minutes = (text: string) => Number(text.split(":")[0]) * 60 + Number(text.split(":")[1])
    const open = number * 1440 + minutes(entry.open)
    const length = minutes(entry.close) - minutes(entry.open)
    return open <= at && at < open + (length <= 0 ? length + 1440 : length)
  })

/** Everything changes on the half hour here, so steps of 30 minutes miss nothing. */
const scanFor = (hours: Hours, from: number, wanted: boolean): number | null => {
  for (let at = from; at < from + 30 * 1440; at += 30) {
    if (openByScan(hours, at) === wanted) return at
  }
  return null
}

it("is open exactly when a day's span, or the night of the day before, covers the minute", () => {
  fc.assert(
    fc.property(hours, moment, (hours, at) => {
      expect(openingAt(hours, at).isOpen ?? false).toBe(openByScan(hours, at))
      expect(isOpenAt(hours, at)).toBe(openingAt(hours, at).isOpen)
    }),
    { numRuns: 300 }
  )
})

it("the next opening and closing are the first changes found by walking on", () => {
  fc.assert(
    fc.property(hours, moment, (hours, at) => {
      const { closesNext, isOpen, opensNext } = openingAt(hours, at)
      const firstClose = isOpen === true ? scanFor(hours, at, false) : null
      const opens = isOpen === true
        ? firstClose === null ? null : scanFor(hours, firstClose, true)
        : scanFor(hours, at, true)
      const closes = isOpen === true ? firstClose : opens === null ? null : scanFor(hours, opens, false)
      expect([opensNext, closesNext]).toEqual([opens, closes])
    }),
    { numRuns: 150 }
  )
})

it("does not know whether it is open on a day that is not stated, unless the night before reaches into it", () => {
  const hours: Hours = { friday: { open: "18:00", close: "02:00" } }
  const saturday = (dayNumber("2026-03-14") ?? 0) * 1440
  expect(openingAt(hours, saturday + 60).isOpen).toBe(true)
  expect(openingAt(hours, saturday + 120).isOpen).toBeNull()
})

it("a date overrides its weekday, but not the night that began the day before", () => {
  const hours: Hours = { friday: { open: "18:00", close: "02:00" }, "2026-03-14": "closed" }
  const saturday = (dayNumber("2026-03-14") ?? 0) * 1440
  expect(openingAt(hours, saturday + 60).isOpen).toBe(true)
  expect(openingAt(hours, saturday + 120).isOpen).toBe(false)
})

it("never closes when each day runs into the next", () => {
  const hours: Hours = Object.fromEntries(weekdays.map((day) => [day, { open: "00:00", close: "24:00" }]))
  expect(openingAt(hours, base * 1440)).toEqual({ isOpen: true, opensNext: null, closesNext: null })
})

it("from a time to the same time is 24 hours, of that day and the next morning", () => {
  const hours: Hours = { sunday: { open: "09:00", close: "09:00" }, monday: "closed" }
  const sunday = base * 1440
  expect(openingAt(hours, sunday + 9 * 60)).toEqual({
    isOpen: true,
    opensNext: sunday + (7 * 24 + 9) * 60,
    closesNext: sunday + (24 + 9) * 60
  })
  expect([sunday + 539, sunday + 1440 + 539, sunday + 1440 + 540].map((at) => openingAt(hours, at).isOpen))
    .toEqual([false, true, false])
  expect(allHours(hours).week.at(-1)).toMatchObject({
    day: "sunday",
    open: "09:00",
    close: "09:00",
    closesNextDay: true
  })
})

it("weekday names count in any case", () => {
  const hours: Hours = { Sunday: { open: "09:00", close: "10:00" } }
  expect(openingAt(hours, base * 1440 + 9 * 60).isOpen).toBe(true)
})

it("reads back what it writes, with any seconds", () => {
  const tail = fc.constantFrom("", ":00", ":59.123")
  fc.assert(fc.property(fc.integer({ min: 0, max: 4_000_000_000 }), tail, (at, tail) => {
    expect(parseAt(formatLocal(at) + tail)).toBe(at)
  }))
})

it("takes any text without throwing, and only real times", () => {
  fc.assert(fc.property(fc.string(), (text) => {
    const at = parseAt(text)
    expect(at === undefined || Number.isInteger(at)).toBe(true)
  }))
  for (
    const text of ["2026-13-01T00:00", "2025-02-29T00:00", "2026-03-14T24:00", "2026-03-14T10:60", "0001-01-01T00:00"]
  ) {
    expect(parseAt(text)).toBeUndefined()
  }
})
