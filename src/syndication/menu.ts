import { lineOf } from "#src/format/markdown-text.ts"
import { formatPrice } from "#src/format/price.ts"
import { type MenuSection } from "./PublicBusiness.ts"
import { type MenuRow } from "./PublicBusinessesRepo.ts"

/** What has no category stands under this heading. */
const unsorted = "Other"

/** Items as they are told, and how their prices are meant. */
export interface PricedSection {
  readonly name: string
  readonly items: ReadonlyArray<MenuSection["items"][number] & Pick<MenuRow["items"][number], "priceType">>
}

/** The items of a menu below their categories, each in the order of the catalog. Descriptions are cut to one line. */
export const sectionsOf = (items: MenuRow["items"], mostDescription: number): ReadonlyArray<PricedSection> => {
  const sections = new Map<string, Array<PricedSection["items"][number]>>()
  for (const { category, description, name, priceCents, priceType } of items) {
    const title = lineOf(category ?? "", 120) || unsorted
    const section = sections.get(title) ?? []
    sections.set(title, section)
    section.push({
      name: lineOf(name, 200),
      description: lineOf(description, mostDescription),
      price: formatPrice({ priceCents, priceType }),
      priceCents,
      priceType
    })
  }
  return [...sections].map(([name, items]) => ({ name, items }))
}

/** As agents read them: how a price is meant is in its words. */
export const withoutTypes = (sections: ReadonlyArray<PricedSection>): ReadonlyArray<MenuSection> =>
  sections.map(({ items, name }) => ({ name, items: items.map(({ priceType: _, ...item }) => item) }))
