import { type Catalog } from "#src/businesses/Catalog.ts"
import { lineOf } from "#src/shared/outside-text.ts"

type Shown = typeof Catalog.Encoded

const longestDescription = 80

const priceOf = ({ priceCents, priceType }: Shown["items"][number]) =>
  [priceCents === null ? "no price" : `${priceCents} cents`, ...priceType === "fixed" ? [] : [priceType]].join(", ")

/** A catalog as its owner looks for an item: a line each, with its price and id. */
export const catalogText = ({ categories, items, meta }: Shown) =>
  [
    ...(categories.length === 0 ? [] : ["Categories:"]),
    ...categories.map(({ id, name }) => `- ${lineOf(name, 200)} (${id})`),
    `Items, ${meta.total} in all:`,
    ...items.map((item) =>
      [
        `- ${lineOf(item.name, 200)} (${item.id}): ${priceOf(item)}`,
        ...(item.isAvailable ? [] : ["not available"]),
        ...(item.categoryId === null ? [] : [`categoryId ${item.categoryId}`]),
        ...(item.description === "" ? [] : [lineOf(item.description, longestDescription)])
      ].join("; ")
    )
  ].join("\n")
