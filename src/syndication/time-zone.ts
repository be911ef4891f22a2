import { type LocalMinute } from "#src/format/opening-hours.ts"
import { isUnitedStates } from "#src/listings/place.ts"
import { stateForms } from "#src/shared/us-places.ts"
import timeZoneAt from "@photostructure/tz-lookup"

/** What is stored of where a business is. Coordinates may be those of the centre of its zip code. */
export interface Place {
  readonly latitude: number | null
  readonly longitude: number | null
  readonly state: string
  readonly country: string
}

const zones: Readonly<Record<string, string>> = {
  "America/New_York": "ct dc de ga ma md me nc nh nj ny oh pa ri sc va vt wv",
  "America/Chicago": "al ar ia il la mn mo ms ok wi",
  "America/Denver": "co mt nm ut wy",
  "America/Los_Angeles": "ca wa",
  "Pacific/Honolulu": "hi"
}
/** The states whose whole area keeps one time. Of the others a state alone does not tell. */
const zoneOfState = new Map(
  Object.entries(zones).flatMap(([zone, states]) => states.split(" ").map((state) => [state, zone] as const))
)

/** The IANA time zone of a place; undefined when what is stored does not tell (docs/decisions/open-now.md). */
export const timeZoneOf = ({ country, latitude, longitude, state }: Place): string | undefined => {
  if (latitude !== null && longitude !== null) return timeZoneAt(latitude, longitude)
  const [short] = isUnitedStates(country) ? stateForms(state) : []
  return short === undefined ? undefined : zoneOfState.get(short)
}

const clocks = new Map<string, Intl.DateTimeFormat | undefined>()

const clockOf = (timeZone: string) => {
  if (!clocks.has(timeZone)) {
    const options = { timeZone, hourCycle: "h23", era: "short" } as const
    const parts = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit" } as const
    try {
      clocks.set(timeZone, new Intl.DateTimeFormat("en-US", { ...options, ...parts }))
    } catch {
      // The zones of the table may be newer than those of the runtime.
      clocks.set(timeZone, undefined)
    }
  }
  return clocks.get(timeZone)
}

/** An instant (Unix milliseconds) on the clock of a time zone; undefined when the runtime does not know the zone. */
export const localMinuteAt = (timeZone: string, millis: number): LocalMinute | undefined => {
  const clock = clockOf(timeZone)
  if (clock === undefined) return undefined
  const part = Object.fromEntries(clock.formatToParts(millis).map(({ type, value }) => [type, Number(value)]))
  const { day = 1, hour = 0, minute = 0, month = 1, year = 1970 } = part
  return Date.UTC(year, month - 1, day, hour, minute) / 60_000
}
