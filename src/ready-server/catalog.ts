import { formatPrice } from "#src/format/price.ts"
import type { Catalog, CatalogItem, ReadyConfig } from "#src/format/ReadyConfig.ts"
import { Either } from "effect"
import { brief } from "./Tool.ts"

export interface ServedItem extends CatalogItem {
  readonly categoryName: string | null
  readonly price: string
}

export interface ServedCategory {
  /** Null: the group of items without a category, or with one that does not exist. */
  readonly id: string | null
  readonly name: string
  readonly items: ReadonlyArray<ServedItem>
}

/** The catalog in the order it is served: categories by `sortOrder`, items in the order of the configuration. */
export interface ServedCatalog {
  readonly published: boolean
  readonly categories: ReadonlyArray<ServedCategory>
  readonly items: ReadonlyMap<string, ServedItem>
}

const noCatalog: Catalog = { categories: [], items: [] }

export const serveCatalog = (config: ReadyConfig): ServedCatalog => {
  const { categories, items } = config.catalog ?? noCatalog
  const groups = new Map(
    categories.toSorted((a, b) => a.sortOrder - b.sortOrder).map(({ id, name }) =>
      [id, { id: id as string | null, name, items: new Array<ServedItem>() }] as const
    )
  )
  const others = { id: null, name: "Other", items: new Array<ServedItem>() }
  for (const item of items) {
    const group = item.categoryId === null ? undefined : groups.get(item.categoryId)
    const served = { ...item, categoryName: group?.name ?? null, price: formatPrice(item) }
    ;(group ?? others).items.push(served)
  }
  const ordered = others.items.length === 0 ? [...groups.values()] : [...groups.values(), others]
  return {
    published: config.catalog !== undefined,
    categories: ordered,
    items: new Map(ordered.flatMap((group) => group.items).map((item) => [item.id, item]))
  }
}

/** By id, else by name in any case. */
export const findCategory = (catalog: ServedCatalog, idOrName: string): ServedCategory | undefined => {
  const name = idOrName.trim().toLowerCase()
  return catalog.categories.find(({ id }) => id === idOrName) ??
    catalog.categories.find((category) => category.name.trim().toLowerCase() === name)
}

/** A cursor holds its filter and the last item returned, so that a redeployed catalog cannot silently skip items. */
const encodeCursor = (filter: string, last: string) => Buffer.from(JSON.stringify([filter, last])).toString("base64url")

const decodeCursor = (cursor: string, filter: string): string | undefined => {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"))
    return Array.isArray(value) && value.length === 2 && value[0] === filter && typeof value[1] === "string"
      ? value[1]
      : undefined
  } catch {
    return undefined
  }
}

export interface BrowsePage {
  readonly categories: ReadonlyArray<ServedCategory & { readonly itemCount: number }>
  readonly total: number
  readonly nextCursor: string | null
}

export const browse = (
  catalog: ServedCatalog,
  options: { readonly category?: string | undefined; readonly limit: number; readonly cursor?: string | undefined }
): Either.Either<BrowsePage, string> => {
  const { category, cursor, limit } = options
  const selected = category === undefined ? undefined : findCategory(catalog, category)
  if (category !== undefined && selected === undefined) {
    const names = catalog.categories.map(({ name }) => name).join(", ")
    return Either.left(
      `There is no category "${brief(category ?? "")}". ${
        names === "" ? "The catalog has none." : `The categories are: ${names}.`
      }`
    )
  }
  const groups = selected === undefined ? catalog.categories : [selected]
  const rows = groups.flatMap((group) => group.items.map((item) => ({ group, item })))
  const filter = selected === undefined ? "" : `${selected.id ?? ""}/${selected.name}`
  const last = cursor === undefined ? undefined : decodeCursor(cursor, filter)
  const before = rows.findIndex(({ item }) => item.id === last)
  if (cursor !== undefined && (last === undefined || before < 0)) {
    return Either.left("The cursor is not one of this list. Leave it out to start from the first page.")
  }
  const page = rows.slice(before + 1, before + 1 + limit)
  const end = page.at(-1)
  const more = before + 1 + page.length < rows.length
  // Empty categories are on the first page: their names still say what the business has.
  const shown = groups.filter((group) =>
    page.some((row) => row.group === group) || (cursor === undefined && group.items.length === 0)
  )
  return Either.right({
    categories: shown.map((group) => ({
      id: group.id,
      name: group.name,
      itemCount: group.items.length,
      items: page.filter((row) => row.group === group).map(({ item }) => item)
    })),
    total: rows.length,
    nextCursor: more && end !== undefined ? encodeCursor(filter, end.item.id) : null
  })
}
