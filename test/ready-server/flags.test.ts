import { decodeReadyConfig } from "#src/format/ReadyConfig.ts"
import { serveCatalog } from "#src/ready-server/catalog.ts"
import { flagTools } from "#src/ready-server/flag-tools.ts"
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { minimal, restaurant } from "./config.ts"

const flags = ["menuBrowsing", "faq", "appointmentBooking", "quoteRequests", "onlineOrdering"] as const
type Flag = (typeof flags)[number]

const toolsWith = (on: ReadonlyArray<Flag>, raw: object = restaurant) => {
  const featureFlags = Object.fromEntries(flags.map((flag) => [flag, on.includes(flag)]))
  const config = Either.getOrThrow(decodeReadyConfig({ ...raw, featureFlags }))
  return flagTools(config, serveCatalog(config))
}

const call = (on: Flag, name: string, args: object = {}, raw: object = restaurant) => {
  const tool = toolsWith([on], raw).find(({ listing }) => listing.name === name)
  const result = tool?.call(args)
  const block = result?.content[0]
  return { ...result, text: block?.type === "text" ? block.text : "", data: result?.structuredContent }
}

const reach = { phone: "+1-555-0142", email: "hello@copper-ladle.example", website: "https://copper-ladle.example" }

describe("tools of feature flags", () => {
  it.each([
    [["menuBrowsing"], ["get_menu"]],
    [["faq"], ["get_faq"]],
    [["appointmentBooking"], ["get_booking_options"]],
    [["quoteRequests"], ["get_quote_options"]],
    [["onlineOrdering"], ["get_order_link"]],
    [[], []],
    [[...flags], ["get_menu", "get_faq", "get_booking_options", "get_quote_options", "get_order_link"]]
  ] as ReadonlyArray<[ReadonlyArray<Flag>, ReadonlyArray<string>]>)("with %j on: %j", (on, names) => {
    expect(toolsWith(on).map(({ listing }) => listing.name)).toEqual(names)
  })

  it("say in their descriptions and answers that nothing was done, and change nothing", () => {
    for (const { listing } of toolsWith(["appointmentBooking", "quoteRequests", "onlineOrdering"])) {
      expect(listing.description).toMatch(/Never tell a customer/)
      expect(listing.annotations).toMatchObject({ readOnlyHint: true, openWorldHint: false })
    }
    expect(call("appointmentBooking", "get_booking_options").data).toMatchObject({ booked: false, contact: reach })
    expect(call("quoteRequests", "get_quote_options").data).toMatchObject({ requested: false, contact: reach })
    expect(call("onlineOrdering", "get_order_link").data).toMatchObject({ ordered: false, link: reach.website })
  })

  it("say so where the business states no way to reach it", () => {
    expect(call("appointmentBooking", "get_booking_options", {}, minimal).data).toMatchObject({
      note: expect.stringContaining("states no way to reach it") as string,
      contact: { phone: null, email: null, website: null }
    })
    expect(call("onlineOrdering", "get_order_link", {}, minimal).data).toMatchObject({ link: null })
  })

  it("get_booking_options tells whether the business is open at the time wished for", () => {
    const at = (text: string) => call("appointmentBooking", "get_booking_options", { at: text }).data?.["at"]
    expect(at("2026-12-25T12:00")).toMatchObject({ isOpen: false, opensNext: "2026-12-26T10:00" })
    expect(at("2026-12-31T23:00")).toMatchObject({ isOpen: true })
    expect(call("appointmentBooking", "get_booking_options", { at: "soon" }).text).toContain("is not a date and time")
    expect(at("2026-12-31T23:00")).toMatchObject({ clock: expect.stringContaining("is not stated") as string })
    expect(call("appointmentBooking", "get_booking_options", { at: "2026-12-31T23:00Z" })).toMatchObject({
      isError: true,
      text: expect.stringContaining("time zone is not known") as string
    })
  })

  it("take an item by its id, and refuse one that is not there", () => {
    expect(call("quoteRequests", "get_quote_options", { itemId: "item_whole_fish" }).data).toMatchObject({
      item: { name: "Whole Grilled Fish", price: "price on request" },
      pricedOnRequest: [{ id: "item_whole_fish" }]
    })
    expect(call("quoteRequests", "get_quote_options", { itemId: "x" })).toMatchObject({
      isError: true,
      text: expect.stringContaining("There is no item \"x\"") as string
    })
  })

  it("get_menu is a text of what can be had, in order, with prices", () => {
    const { data } = call("menuBrowsing", "get_menu")
    const text = String(data?.["text"])
    expect(data).toMatchObject({ itemCount: 14, omitted: 0 })
    expect(text.split("\n")[0]).toBe("Starters")
    expect(text).toContain("- Charred Corn Ribs: $8.99 (")
    expect(text).toContain("- Fire-Roasted Tomato Soup: from $6.50")
    expect(text).not.toContain("Whole Grilled Fish")
    expect(toolsWith(["menuBrowsing"], minimal)).toEqual([])
  })

  it("get_faq answers from what is stated, the owner's own subjects first, and from nothing else", () => {
    const withFacts = {
      ...restaurant,
      business: {
        ...(restaurant["business"] as object),
        customFields: { Parking: "Free, behind the house", Empty: " " }
      }
    }
    const questions = (
      args: object,
      raw: object = withFacts
    ) => (call("faq", "get_faq", args, raw).data?.["questions"] as ReadonlyArray<{ question: string; answer: string }>)
    expect(questions({})[0]).toEqual({ question: "Parking", answer: "Free, behind the house" })
    expect(questions({}).map(({ question }) => question)).not.toContain("Empty")
    expect(questions({ about: "where can I park?" }).map(({ question }) => question)).toContain("Parking")
    expect(questions({ about: "Christmas 2026-12-25" })[0]?.answer).toContain("2026-12-25 closed")
    expect(questions({ about: "helicopter" })).toEqual([])
    expect(questions({}, minimal)).toEqual([])
  })
})
