import { PriceType, type ReadyConfig } from "#src/format/ReadyConfig.ts"
import { Either, Schema } from "effect"
import { browse, findCategory, type ServedCatalog, type ServedItem } from "./catalog.ts"
import { makeSearch } from "./search.ts"
import { brief, Integer, readTool, type Tool } from "./Tool.ts"

const Item = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  price: Schema.String.annotations({ description: "The price as it is shown to a customer, e.g. $8.99." }),
  isAvailable: Schema.Boolean,
  description: Schema.String,
  categoryName: Schema.NullOr(Schema.String),
  categoryId: Schema.NullOr(Schema.String),
  priceCents: Schema.NullOr(Integer).annotations({ description: "US cents; null when no price is stated." }),
  priceType: PriceType,
  metadata: Schema.Record({ key: Schema.String, value: Schema.Unknown })
})

/** Picks an item's fields by name, so that no others are served; those that people look for come first. */
const itemOf = (item: ServedItem): typeof Item.Type => ({
  id: item.id,
  name: item.name,
  price: item.price,
  isAvailable: item.isAvailable,
  description: item.description,
  categoryName: item.categoryName,
  categoryId: item.categoryId,
  priceCents: item.priceCents,
  priceType: item.priceType,
  metadata: item.metadata
})

const Category = Schema.optional(Schema.String.annotations({ description: "A category's id or name." }))

const limit = (max: number, byDefault: number) =>
  Schema.optionalWith(
    Integer.pipe(Schema.between(1, max)).annotations({
      description: `How many items at most, 1 to ${max}; ${byDefault} when left out.`
    }),
    { default: () => byDefault }
  )

export const catalogTools = (config: ReadyConfig, catalog: ServedCatalog): ReadonlyArray<Tool> => {
  const { name } = config.business
  const search = makeSearch(catalog)
  const noun = config.templateType === "restaurant" ? "menu" : "catalog"

  return [
    readTool({
      name: "browse_catalog",
      title: `Browse the ${noun}`,
      description: `The ${noun} of ${name}: categories in order, with their items and prices. Use it to list what is ` +
        "on offer, whole or one category. A page holds up to \"limit\" items; pass \"nextCursor\" back as \"cursor\", " +
        "with the same category, for the next. To find particular items use search_catalog.",
      input: Schema.Struct({
        category: Category,
        limit: limit(100, 50),
        cursor: Schema.optional(Schema.String.annotations({ description: "nextCursor of the page before." }))
      }),
      output: Schema.Struct({
        categories: Schema.Array(Schema.Struct({
          id: Schema.NullOr(Schema.String),
          name: Schema.String,
          itemCount: Integer,
          items: Schema.Array(Item)
        })),
        total: Integer.annotations({ description: "Items in the whole list, over all pages." }),
        nextCursor: Schema.NullOr(Schema.String)
      }),
      run: (input) =>
        Either.map(browse(catalog, input), (page) => ({
          ...page,
          categories: page.categories.map((category) => ({ ...category, items: category.items.map(itemOf) }))
        }))
    }),
    readTool({
      name: "search_catalog",
      title: `Search the ${noun}`,
      description:
        `Finds items of ${name}, with prices, by words in their name, category or description, best match first; word ` +
        "beginnings and small typing errors match too. Use it when the customer names a dish, product, service or " +
        "ingredient. Items that match more of the words come first.",
      input: Schema.Struct({
        query: Schema.String.pipe(
          Schema.filter((text) => text.trim() !== "" || "must not be empty", {
            jsonSchema: { minLength: 1, maxLength: 200 }
          }),
          Schema.maxLength(200)
        ).annotations({ description: "Words to look for." }),
        category: Category,
        limit: limit(50, 10)
      }),
      output: Schema.Struct({
        items: Schema.Array(Schema.Struct({ ...Item.fields, matchedWords: Integer })),
        count: Integer
      }),
      run: ({ category, limit, query }) => {
        const inCategory = category === undefined ? undefined : findCategory(catalog, category)
        if (category !== undefined && inCategory === undefined) {
          return Either.left(`There is no category "${brief(category)}". browse_catalog lists them.`)
        }
        const items = search(query, (item) => inCategory === undefined || inCategory.items.includes(item), limit)
          .map(({ item, matched }) => ({ ...itemOf(item), matchedWords: matched }))
        return Either.right({ items, count: items.length })
      }
    }),
    readTool({
      name: "get_item",
      title: "One item",
      description: `One item of ${name}'s ${noun} by its id, with price, availability and further details. Ids come ` +
        "from browse_catalog and search_catalog.",
      input: Schema.Struct({ id: Schema.String.annotations({ description: "The item's id." }) }),
      output: Schema.Struct({ item: Item }),
      run: ({ id }) => {
        const item = catalog.items.get(id)
        return item === undefined
          ? Either.left(`There is no item "${brief(id)}". search_catalog finds items and their ids.`)
          : Either.right({ item: itemOf(item) })
      }
    })
  ]
}
