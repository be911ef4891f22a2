import { type FeatureFlags } from "#src/format/ReadyConfig.ts"

/** What decides which tools the server has. */
export interface ReadyToolsSource {
  readonly featureFlags: typeof FeatureFlags.Type
  /** Whether there has ever been a catalog. */
  readonly isPublished: boolean
}

/** A tool, and what an agent calls it for. */
export interface ReadyTool {
  readonly name: string
  readonly use: string
}

/** The tools of this server in their order, for its skill. */
export const readyTools = ({ featureFlags: flags, isPublished }: ReadyToolsSource): ReadonlyArray<ReadyTool> => [
  { name: "get_business", use: "who the business is, where it is and how to reach it; call it first" },
  { name: "get_hours", use: "when it is open, and whether it is at a given time" },
  { name: "browse_catalog", use: "what it offers, by category, with prices" },
  { name: "search_catalog", use: "items by words; for a dish, product or service that the user names" },
  { name: "get_item", use: "one item with all its details, by its id" },
  ...(flags.menuBrowsing && isPublished
    ? [{ name: "get_menu", use: "all that is available, as one text to show" }]
    : []),
  ...(flags.faq ? [{ name: "get_faq", use: "what the business answers to common questions" }] : []),
  ...(flags.appointmentBooking
    ? [{ name: "get_booking_options", use: "how to get an appointment; it books nothing" }]
    : []),
  ...(flags.quoteRequests ? [{ name: "get_quote_options", use: "how to get a quote; it asks for none" }] : []),
  ...(flags.onlineOrdering ? [{ name: "get_order_link", use: "where to order online; it orders nothing" }] : [])
]
