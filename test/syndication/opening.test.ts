import { formatLocal } from "#src/format/opening-hours.ts"
import { isOpenNow, openingNow } from "#src/syndication/opening.ts"
import { localMinuteAt, timeZoneOf } from "#src/syndication/time-zone.ts"
import { FastCheck as fc } from "effect"
import { expect, it } from "vitest"

const nowhere = { latitude: null, longitude: null, state: "", country: "" }
const local = (zone: string, at: string) => formatLocal(localMinuteAt(zone, Date.parse(at)) ?? 0)

it("every point of the earth has a time zone, whose clock the runtime knows", () => {
  const latitude = fc.oneof(fc.double({ min: -90, max: 90, noNaN: true }), fc.constantFrom(-90, 0, 90))
  const longitude = fc.oneof(fc.double({ min: -180, max: 180, noNaN: true }), fc.constantFrom(-180, 0, 180))
  fc.assert(
    fc.property(
      latitude,
      longitude,
      fc.date({ min: new Date(0), noInvalidDate: true, max: new Date(4e12) }),
      (latitude, longitude, at) => {
        const zone = timeZoneOf({ ...nowhere, latitude, longitude })
        const minute = localMinuteAt(zone ?? "", at.getTime())
        expect(minute, zone).toBeTypeOf("number")
        // No clock was ever further than 15 hours from UTC.
        expect(Math.abs((minute ?? 0) - at.getTime() / 60_000), zone).toBeLessThan(15 * 60 + 1)
      }
    )
  )
})

it("a state tells it where the whole of it keeps one time, and else nothing does", () => {
  expect(
    ["CO", "colorado", "NY", "HI", "TX", "Florida", "AZ", "Bavaria", ""].map((state) =>
      timeZoneOf({ ...nowhere, state })
    )
  )
    .toEqual([
      "America/Denver",
      "America/Denver",
      "America/New_York",
      "Pacific/Honolulu",
      undefined,
      undefined,
      undefined,
      undefined,
      undefined
    ])
  expect(timeZoneOf({ ...nowhere, state: "CO", country: "Italy" })).toBeUndefined()
  expect(timeZoneOf({ ...nowhere, latitude: 31.76, longitude: -106.49, state: "TX" })).toBe("America/Denver")
})

it("the clock follows summer time", () => {
  expect(local("America/Denver", "2026-03-08T08:59:00Z")).toBe("2026-03-08T01:59")
  expect(local("America/Denver", "2026-03-08T09:00:00Z")).toBe("2026-03-08T03:00")
  expect(local("Asia/Kolkata", "2025-12-31T18:30:00Z")).toBe("2026-01-01T00:00")
  expect(localMinuteAt("Mars/Olympus", 0)).toBeUndefined()
})

it("a business is open by its own clock; what is not stated is not known", () => {
  const denver = { ...nowhere, state: "CO", hours: { friday: { open: "18:00", close: "02:00" } } }
  const at = (text: string) => Date.parse(text)
  expect(isOpenNow(denver, at("2026-11-28T08:59:00Z"))).toBe(true)
  expect(isOpenNow(denver, at("2026-11-28T09:00:00Z"))).toBeNull()
  expect(isOpenNow({ ...denver, hours: { ...denver.hours, saturday: "closed" } }, at("2026-11-28T09:00:00Z"))).toBe(
    false
  )
  expect(isOpenNow({ ...denver, state: "TX" }, at("2026-11-28T08:59:00Z"))).toBeNull()
  expect(isOpenNow({ ...denver, hours: {} }, at("2026-11-28T08:59:00Z"))).toBeNull()
  expect(openingNow(denver, at("2026-11-28T03:00:00Z"))).toEqual({
    isOpenNow: true,
    timeZone: "America/Denver",
    closesAt: "2026-11-28T02:00",
    opensAt: "2026-12-04T18:00"
  })
})
