import type { ServedCatalog } from "./catalog.ts"

/** A longer text can't be read out, and fills an agent's context. */
const maxItems = 300

/** The available items, one line each, below their category. */
export const menuText = ({ categories }: ServedCatalog) => {
  const rows = categories.flatMap(({ items, name }) =>
    items.filter(({ isAvailable }) => isAvailable).map((item) => ({ category: name, item }))
  )
  const shown = rows.slice(0, maxItems)
  const lines = shown.flatMap(({ category, item }, at) => [
    ...(shown[at - 1]?.category === category ? [] : [`${at === 0 ? "" : "\n"}${category}`]),
    `- ${item.name}: ${item.price}${item.description.trim() === "" ? "" : ` (${item.description.trim()})`}`
  ])
  return { text: lines.join("\n"), itemCount: shown.length, omitted: rows.length - shown.length }
}
