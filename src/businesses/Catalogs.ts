import { sessionOnly, withPolicy } from "#src/accounts/Policy.ts"
import { Invalid } from "#src/shared/Failure.ts"
import { isUlid, newUlid } from "#src/shared/ids.ts"
import { type PageRequest, paginate } from "#src/shared/paging.ts"
import { Effect } from "effect"
import { Businesses } from "./Businesses.ts"
import {
  CatalogCategoryNotFound,
  CatalogFull,
  CatalogItemNotFound,
  type CreateCategory,
  type CreateItem,
  mostCategories,
  mostItems,
  type UpdateCategory,
  type UpdateItem
} from "./Catalog.ts"
import { CatalogRepo, type Table } from "./CatalogRepo.ts"

const limits = {
  catalog_items: { what: "items", limit: mostItems },
  catalog_categories: { what: "categories", limit: mostCategories }
} as const

/** An item's place, which the column can hold (int4), and its id: a cursor names both. */
const placeOf = (key: string) => {
  const [place = "", id = ""] = key.split(" ")
  return /^\d{1,10}$/.test(place) && Number(place) < 2 ** 31 && isUlid(id) ? [Number(place), id] as const : undefined
}

const emptyUpdate = Invalid.field("", "at least one field is required")

/** Edits a catalog item by item, without a new import. */
export class Catalogs extends Effect.Service<Catalogs>()("businesses/Catalogs", {
  effect: Effect.gen(function*() {
    const repo = yield* CatalogRepo
    const businesses = yield* Businesses

    /** In display order. Doesn't authorize: the caller of this function must have done so. */
    const read = (businessId: string) =>
      Effect.all({ categories: repo.categories(businessId), items: repo.items(businessId) })

    /** A page of the items, or all; the categories come with the first. */
    const get = Effect.fn("Catalogs.get")(function*(id: string, { cursor, limit = mostItems }: Partial<PageRequest>) {
      const { id: businessId } = yield* businesses.visible(id)
      const page = yield* paginate({
        list: `catalog ${businessId}`,
        request: { limit, ...(cursor === undefined ? {} : { cursor }) },
        isKey: (text) => placeOf(text) !== undefined,
        read: (after, count) => repo.itemsAfter(businessId, after === undefined ? undefined : placeOf(after), count),
        keyOf: (item) => `${item.sortOrder} ${item.id}`,
        total: () => Effect.map(repo.place("catalog_items", businessId), ({ count }) => count)
      })
      const categories = cursor === undefined ? yield* repo.categories(businessId) : []
      return { categories, items: page.data, meta: page.meta }
    }, withPolicy(sessionOnly))

    /** Runs a change in the business's transaction, with the business's id. */
    const changing = <A, E, R>(id: string, change: (businessId: string) => Effect.Effect<A, E, R>) =>
      Effect.map(businesses.changing(id, (row) => change(row.id)), ({ result }) => result)

    /** The id and the place of a new row. */
    const admit = Effect.fn("Catalogs.admit")(function*(table: Table, businessId: string, sortOrder?: number) {
      const { count, end } = yield* repo.place(table, businessId)
      if (count >= limits[table].limit) return yield* new CatalogFull(limits[table])
      const id = newUlid()
      if (sortOrder !== undefined) yield* repo.makeRoom(table, businessId, sortOrder, id)
      yield* repo.published(businessId)
      return { id, businessId, sortOrder: sortOrder ?? end }
    })

    const has = (table: Table, businessId: string, id: string) =>
      isUlid(id) ? repo.has(table, businessId, id) : Effect.succeed(false)

    const checkCategory = Effect.fn("Catalogs.checkCategory")(function*(
      businessId: string,
      categoryId: string | null | undefined
    ) {
      if (categoryId === null || categoryId === undefined) return
      if (!(yield* has("catalog_categories", businessId, categoryId))) {
        return yield* Invalid.field("categoryId", "there is no such category")
      }
    })

    const createItem = Effect.fn("Catalogs.createItem")(
      (id: string, input: typeof CreateItem.Type) =>
        changing(id, (businessId) =>
          Effect.gen(function*() {
            yield* checkCategory(businessId, input.categoryId)
            const place = yield* admit("catalog_items", businessId, input.sortOrder)
            return yield* repo.insertItem({ itemType: "product", priceType: "fixed", ...input, ...place })
          })),
      withPolicy(sessionOnly)
    )

    const updateItem = Effect.fn("Catalogs.updateItem")(
      (id: string, itemId: string, input: typeof UpdateItem.Type) =>
        changing(id, (businessId) =>
          Effect.gen(function*() {
            if (!(yield* has("catalog_items", businessId, itemId))) return yield* new CatalogItemNotFound()
            if (Object.keys(input).length === 0) return yield* emptyUpdate
            yield* checkCategory(businessId, input.categoryId)
            if (input.sortOrder !== undefined) {
              yield* repo.makeRoom("catalog_items", businessId, input.sortOrder, itemId)
            }
            return yield* Effect.orDie(Effect.flatten(repo.updateItem(businessId, itemId, input)))
          })),
      withPolicy(sessionOnly)
    )

    const deleteItem = Effect.fn("Catalogs.deleteItem")(
      (id: string, itemId: string) =>
        changing(id, (businessId) =>
          Effect.gen(function*() {
            const removed = isUlid(itemId) && (yield* repo.remove("catalog_items", businessId, itemId))
            if (!removed) return yield* new CatalogItemNotFound()
          })),
      withPolicy(sessionOnly)
    )

    const createCategory = Effect.fn("Catalogs.createCategory")(
      (id: string, input: typeof CreateCategory.Type) =>
        changing(id, (businessId) =>
          Effect.flatMap(
            admit("catalog_categories", businessId, input.sortOrder),
            (place) => repo.insertCategory({ name: input.name, ...place })
          )),
      withPolicy(sessionOnly)
    )

    const updateCategory = Effect.fn("Catalogs.updateCategory")(
      (id: string, categoryId: string, input: typeof UpdateCategory.Type) =>
        changing(id, (businessId) =>
          Effect.gen(function*() {
            if (!(yield* has("catalog_categories", businessId, categoryId))) return yield* new CatalogCategoryNotFound()
            if (Object.keys(input).length === 0) return yield* emptyUpdate
            if (input.sortOrder !== undefined) {
              yield* repo.makeRoom("catalog_categories", businessId, input.sortOrder, categoryId)
            }
            const updated = yield* repo.updateCategory(businessId, categoryId, input)
            return yield* Effect.orDie(updated)
          })),
      withPolicy(sessionOnly)
    )

    /** Its items stay, without a category. */
    const deleteCategory = Effect.fn("Catalogs.deleteCategory")(
      (id: string, categoryId: string) =>
        changing(id, (businessId) =>
          Effect.gen(function*() {
            const removed = isUlid(categoryId) && (yield* repo.remove("catalog_categories", businessId, categoryId))
            if (!removed) return yield* new CatalogCategoryNotFound()
          })),
      withPolicy(sessionOnly)
    )

    return { get, read, createItem, updateItem, deleteItem, createCategory, updateCategory, deleteCategory } as const
  })
}) {}
