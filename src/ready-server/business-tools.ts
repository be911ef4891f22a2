import { weekdays } from "#src/format/opening-day.ts"
import { allHours, formatLocal, horizonDays, openingAt } from "#src/format/opening-hours.ts"
import type { ReadyConfig } from "#src/format/ReadyConfig.ts"
import { Either, Schema } from "effect"
import { localClock, parseMoment } from "./hours.ts"
import { Integer, readTool, type Tool } from "./Tool.ts"

const textOrNull = (text: string): string | null => text.trim() === "" ? null : text
const TextOrNull = Schema.NullOr(Schema.String)

const Business = Schema.Struct({
  name: Schema.String,
  description: TextOrNull,
  category: TextOrNull,
  templateType: Schema.String,
  contact: Schema.Struct({
    phone: TextOrNull,
    email: TextOrNull,
    website: TextOrNull,
    address: Schema.Struct({
      line1: TextOrNull,
      city: TextOrNull,
      state: TextOrNull,
      zip: TextOrNull,
      country: TextOrNull
    }),
    coordinates: Schema.NullOr(Schema.Struct({ lat: Schema.Number, lng: Schema.Number }))
  }),
  featureFlags: Schema.Struct({
    appointmentBooking: Schema.Boolean,
    onlineOrdering: Schema.Boolean,
    quoteRequests: Schema.Boolean,
    faq: Schema.Boolean,
    menuBrowsing: Schema.Boolean
  }),
  catalogItemCount: Schema.NullOr(Integer).annotations({ description: "Null: no catalog has been published yet." })
})

/** Picks each field by name: other parts of a configuration (above all integrations) are never served. */
const getBusiness = ({ business, catalog, contact, featureFlags, templateType }: ReadyConfig): Tool =>
  readTool({
    name: "get_business",
    title: "About the business",
    description: `Who ${business.name} is, where it is and how to reach it. Use it first, and for questions about ` +
      "the address, phone, email, website, or whether it takes online orders, appointments or quote requests. " +
      "A field that is null is not stated.",
    input: Schema.Struct({}),
    output: Business,
    run: () =>
      Either.right({
        name: business.name,
        description: textOrNull(business.description),
        category: textOrNull(business.category),
        templateType,
        contact: {
          phone: textOrNull(contact.phone),
          email: textOrNull(contact.email),
          website: textOrNull(contact.website),
          address: {
            line1: textOrNull(contact.address.line1),
            city: textOrNull(contact.address.city),
            state: textOrNull(contact.address.state),
            zip: textOrNull(contact.address.zip),
            country: textOrNull(contact.address.country)
          },
          coordinates: contact.coordinates
        },
        featureFlags,
        catalogItemCount: catalog?.items.length ?? null
      })
  })

const line = {
  status: Schema.Literal("open", "closed", "not stated"),
  open: TextOrNull,
  close: TextOrNull,
  closesNextDay: Schema.Boolean
}

const HoursAnswer = Schema.Struct({
  clock: Schema.String,
  week: Schema.Array(Schema.Struct({ day: Schema.Literal(...weekdays), ...line })),
  dates: Schema.Array(Schema.Struct({ date: Schema.String, ...line })),
  at: Schema.NullOr(Schema.Struct({
    localTime: Schema.String,
    isOpen: Schema.NullOr(Schema.Boolean).annotations({ description: "Null: the hours of that day are not stated." }),
    opensNext: TextOrNull.annotations({ description: "Local time of the next opening; while open, the one after." }),
    closesNext: TextOrNull.annotations({ description: "Local time at which the current or next opening ends." })
  })).annotations({ description: "The answer for the time asked about; null when none was given." })
})

const getHours = ({ business, hours }: ReadyConfig): Tool =>
  readTool({
    name: "get_hours",
    title: "Opening hours",
    description: `When ${business.name} is open: each weekday, and the dates that differ (a date overrides its ` +
      "weekday). Give \"at\" to learn whether it is open at that moment and when it opens and closes next. All times " +
      "are on the business's own clock: its time zone is not known, so \"at\" with Z or an offset is refused; convert " +
      "it to the local time of the business's address first. A closing time at or before the opening time is on the " +
      "next day, and such a night belongs to the day it began on; from a time to the same time is 24 hours. Next " +
      `times are looked for over ${horizonDays} days.`,
    input: Schema.Struct({
      at: Schema.optional(Schema.String.annotations({
        description: "Date and time in the business's local time, without an offset: 2026-03-14T19:30."
      }))
    }),
    output: HoursAnswer,
    run: ({ at }) => {
      const all = { clock: localClock, ...allHours(hours) }
      if (at === undefined) return Either.right({ ...all, at: null })
      return Either.map(parseMoment(at), (moment) => {
        const { closesNext, isOpen, opensNext } = openingAt(hours, moment)
        const local = (time: number | null) => time === null ? null : formatLocal(time)
        return {
          ...all,
          at: { localTime: formatLocal(moment), isOpen, opensNext: local(opensNext), closesNext: local(closesNext) }
        }
      })
    }
  })

export const businessTools = (config: ReadyConfig): ReadonlyArray<Tool> => [getBusiness(config), getHours(config)]
