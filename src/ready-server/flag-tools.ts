import { formatLocal, type LocalMinute, openingAt } from "#src/format/opening-hours.ts"
import type { ReadyConfig } from "#src/format/ReadyConfig.ts"
import { Either, Schema } from "effect"
import type { ServedCatalog } from "./catalog.ts"
import { faqOf, filterFaq } from "./faq.ts"
import { localClock, parseMoment } from "./hours.ts"
import { menuText } from "./menu-text.ts"
import { brief, Integer, readTool, type Tool } from "./Tool.ts"

const TextOrNull = Schema.NullOr(Schema.String)
const textOrNull = (text: string): string | null => text.trim() === "" ? null : text

/** How a customer contacts the business. */
const ContactDetails = Schema.Struct({ phone: TextOrNull, email: TextOrNull, website: TextOrNull })
const contactDetails = ({ contact }: ReadyConfig): typeof ContactDetails.Type => ({
  phone: textOrNull(contact.phone),
  email: textOrNull(contact.email),
  website: textOrNull(contact.website)
})

const unreachable = (contact: typeof ContactDetails.Type) => Object.values(contact).every((detail) => detail === null)

const note = (what: string, contact: typeof ContactDetails.Type) =>
  `${what} ${
    unreachable(contact) ? "The business states no way to reach it." : "The customer does that in one of these ways."
  }`

const Offered = Schema.Struct({ id: Schema.String, name: Schema.String, price: Schema.String })
const ItemId = Schema.optional(
  Schema.String.annotations({ description: "Id of the catalog item that it is about, from search_catalog." })
)

const findOffered = (
  catalog: ServedCatalog,
  id: string | undefined
): Either.Either<typeof Offered.Type | null, string> => {
  if (id === undefined) return Either.right(null)
  const item = catalog.items.get(id)
  return item === undefined
    ? Either.left(`There is no item "${brief(id)}". search_catalog finds items and their ids.`)
    : Either.right({ id: item.id, name: item.name, price: item.price })
}

const openingOf = ({ hours }: ReadyConfig, moment: LocalMinute) => {
  const { isOpen, opensNext } = openingAt(hours, moment)
  return {
    clock: localClock,
    localTime: formatLocal(moment),
    isOpen,
    opensNext: opensNext === null ? null : formatLocal(opensNext)
  }
}

const bookingOptions = (config: ReadyConfig, catalog: ServedCatalog): Tool =>
  readTool({
    name: "get_booking_options",
    title: "How to get an appointment",
    description: `How a customer makes an appointment with ${config.business.name}. It books nothing and sends ` +
      "nothing: it tells whom to call or write to, and with \"at\" whether the business is open then. " +
      "Never tell a customer that an appointment was made.",
    input: Schema.Struct({
      at: Schema.optional(Schema.String.annotations({
        description: "The time wished for, YYYY-MM-DDTHH:MM in the business's local time, without an offset."
      })),
      itemId: ItemId
    }),
    output: Schema.Struct({
      booked: Schema.Boolean,
      note: Schema.String,
      contact: ContactDetails,
      item: Schema.NullOr(Offered),
      at: Schema.NullOr(Schema.Struct({
        clock: Schema.String,
        localTime: Schema.String,
        isOpen: Schema.NullOr(Schema.Boolean).annotations({
          description: "Null: the hours of that day are not stated."
        }),
        opensNext: TextOrNull
      }))
    }),
    run: ({ at, itemId }) =>
      Either.gen(function*() {
        const moment = at === undefined ? null : yield* parseMoment(at)
        const item = yield* findOffered(catalog, itemId)
        const contact = contactDetails(config)
        return {
          booked: false,
          note: note("No appointment was made.", contact),
          contact,
          item,
          at: moment === null ? null : openingOf(config, moment)
        }
      })
  })

const maxOffered = 50

const quoteOptions = (config: ReadyConfig, catalog: ServedCatalog): Tool =>
  readTool({
    name: "get_quote_options",
    title: "How to get a quote",
    description: `How a customer asks ${config.business.name} for a quote, and which of its offers are priced that ` +
      "way. It asks for none and sends nothing. Never tell a customer that a quote was requested.",
    input: Schema.Struct({ itemId: ItemId }),
    output: Schema.Struct({
      requested: Schema.Boolean,
      note: Schema.String,
      contact: ContactDetails,
      item: Schema.NullOr(Offered),
      pricedOnRequest: Schema.Array(Offered).annotations({ description: `The first ${maxOffered}.` })
    }),
    run: ({ itemId }) => {
      const contact = contactDetails(config)
      return Either.map(findOffered(catalog, itemId), (item) => ({
        requested: false,
        note: note("No quote was requested.", contact),
        contact,
        item,
        pricedOnRequest: [...catalog.items.values()]
          .filter(({ priceCents, priceType }) => priceType === "free_estimate" || priceCents === null)
          .slice(0, maxOffered)
          .map(({ id, name, price }) => ({ id, name, price }))
      }))
    }
  })

const orderLink = (config: ReadyConfig): Tool =>
  readTool({
    name: "get_order_link",
    title: "Where to order",
    description: `Where a customer orders from ${config.business.name} online. It orders nothing. Never tell a ` +
      "customer that an order was placed.",
    input: Schema.Struct({}),
    output: Schema.Struct({ ordered: Schema.Boolean, note: Schema.String, link: TextOrNull, contact: ContactDetails }),
    run: () => {
      const contact = contactDetails(config)
      return Either.right({
        ordered: false,
        note: note("Nothing was ordered.", contact),
        link: contact.website,
        contact
      })
    }
  })

const faq = (config: ReadyConfig): Tool => {
  const entries = faqOf(config)
  return readTool({
    name: "get_faq",
    title: "Questions and answers",
    description: `What ${config.business.name} answers to common questions, from what it has stated and from nothing ` +
      "else. Give \"about\" for those that speak of something; leave it out for all.",
    input: Schema.Struct({
      about: Schema.optional(
        Schema.String.pipe(Schema.maxLength(200)).annotations({ description: "Words to look for, e.g. parking." })
      )
    }),
    output: Schema.Struct({
      questions: Schema.Array(Schema.Struct({ question: Schema.String, answer: Schema.String })),
      total: Integer.annotations({ description: "How many there are without \"about\"." })
    }),
    run: ({ about }) => Either.right({ questions: filterFaq(entries, about), total: entries.length })
  })
}

const menu = (config: ReadyConfig, catalog: ServedCatalog): Tool =>
  readTool({
    name: "get_menu",
    title: config.templateType === "restaurant" ? "The menu to read" : "The price list to read",
    description:
      `What ${config.business.name} offers at present, as one text to show or read out: categories, names, ` +
      "prices. What is not available is left out. For ids and details use browse_catalog.",
    input: Schema.Struct({}),
    output: Schema.Struct({
      text: Schema.String,
      itemCount: Integer,
      omitted: Integer.annotations({ description: "Items beyond what one text holds." })
    }),
    run: () => Either.right(menuText(catalog))
  })

/** The tools of the features that a business has switched on (ReadyConfig: featureFlags). */
export const flagTools = (config: ReadyConfig, catalog: ServedCatalog): ReadonlyArray<Tool> => {
  const { featureFlags: flags } = config
  return [
    ...(flags.menuBrowsing && catalog.published ? [menu(config, catalog)] : []),
    ...(flags.faq ? [faq(config)] : []),
    ...(flags.appointmentBooking ? [bookingOptions(config, catalog)] : []),
    ...(flags.quoteRequests ? [quoteOptions(config, catalog)] : []),
    ...(flags.onlineOrdering ? [orderLink(config)] : [])
  ]
}
