import { lineOf } from "#src/format/markdown-text.ts"
import { formatPrice } from "#src/format/price.ts"
import { type MenuSection } from "./PublicBusiness.ts"
import { type MenuRow } from "./PublicBusinessesRepo.ts"

/** What has no category stands under this heading. */
const unsorted = "Other"

/** The items of a menu below their categories, each in the order of the catalog. Descriptions are cut to one line. */
export const sectionsOf = (items: MenuRow["items"], mostDescription: number): ReadonlyArray<MenuSection> => {
  const sections = new Map<string, Array<MenuSection["items"][number]>>()
  for (const { category, description, name, priceCents, priceType } of items) {
    const title = lineOf(category ?? "", 120) || unsorted
    const section = sections.get(title) ?? []
    sections.set(title, section)
    section.push({
      name: lineOf(name, 200),
      description: lineOf(description, mostDescription),
      price: formatPrice({ priceCents, priceType }),
      priceCents
    })
  }
  return [...sections].map(([name, items]) => ({ name, items }))
}
