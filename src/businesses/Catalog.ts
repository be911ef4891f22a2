import { AnyObject, PriceType } from "#src/format/ReadyConfig.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { Id } from "#src/shared/ids.ts"
import { Meta, QueryLimit } from "#src/shared/paging.ts"
import { Prose } from "#src/shared/profile-text.ts"
import { Input, Name, optional, Query, Timestamp } from "#src/shared/text.ts"
import { Schema } from "effect"
import { storableJson } from "./json-text.ts"

export const mostItems = 5000
export const mostCategories = 500

const ItemId = Id("CatalogItemId", "Catalog item id, a ULID")
const CategoryId = Id("CatalogCategoryId", "Catalog category id, a ULID")

const ItemType = Schema.Literal("menu_item", "service", "product", "consultation")

export const CatalogItem = Schema.Struct({
  id: ItemId,
  name: Schema.String,
  description: Schema.String,
  categoryId: Schema.NullOr(Schema.String),
  itemType: ItemType,
  priceCents: Schema.NullOr(Schema.Int).annotations({ description: "US cents; null when no price is stated" }),
  priceType: PriceType,
  currency: Schema.String.annotations({ description: "USD, always" }),
  isAvailable: Schema.Boolean,
  metadata: AnyObject,
  sortOrder: Schema.Int,
  createdAt: Timestamp,
  updatedAt: Timestamp
}).annotations({ title: "CatalogItem" })
export type CatalogItem = typeof CatalogItem.Type

export const CatalogCategory = Schema.Struct({
  id: CategoryId,
  name: Schema.String,
  sortOrder: Schema.Int,
  createdAt: Timestamp,
  updatedAt: Timestamp
}).annotations({ title: "CatalogCategory" })
export type CatalogCategory = typeof CatalogCategory.Type

/** Both in display order: `sortOrder`, then id. Items may be a page. */
export const Catalog = Schema.Struct({
  categories: Schema.Array(CatalogCategory).annotations({ description: "All of them; none on a page after the first" }),
  items: Schema.Array(CatalogItem),
  meta: Meta.annotations({ description: "Of the items" })
}).annotations({ title: "Catalog" })

/** Without a limit all items. */
export const CatalogQuery = Query({ limit: optional(QueryLimit(100)), cursor: optional(Schema.String) })

const asRow = { createdAt: Schema.DateFromSelf, updatedAt: Schema.DateFromSelf }
export const ItemRow = Schema.Struct({ ...CatalogItem.fields, ...asRow })
export const CategoryRow = Schema.Struct({ ...CatalogCategory.fields, ...asRow })

const furthest = 1_000_000
const SortOrder = Schema.Int.pipe(Schema.between(0, furthest)).annotations({
  description: "Its place. If it is taken, the row there and all after it move on by one. Left out: the end"
})

/** The column's maximum (int4). */
const mostCents = 2_147_483_647
const PriceCents = Schema.NullOr(Schema.Int.pipe(Schema.between(0, mostCents))).annotations({
  description: "US cents, 899 for $8.99; null when no price is stated"
})

const mostMetadata = 8 * 1024
const MetadataInput = AnyObject.pipe(
  Schema.filter((value) => storableJson(value) || "must not contain NUL or broken surrogates", { jsonSchema: {} }),
  Schema.filter(
    (value) => JSON.stringify(value).length <= mostMetadata || `must be at most ${mostMetadata / 1024} KiB`,
    { jsonSchema: {} }
  )
)

const itemFields = {
  description: optional(Prose(5000)),
  categoryId: optional(Schema.NullOr(Schema.String)),
  itemType: optional(ItemType),
  priceCents: optional(PriceCents),
  priceType: optional(PriceType),
  isAvailable: optional(Schema.Boolean),
  metadata: optional(MetadataInput).annotations({ description: "Any further data; replaced as a whole" }),
  sortOrder: optional(SortOrder)
}

/** Defaults: product, no price, fixed, available, no category, at the end. */
export const createItemFields = { name: Name, ...itemFields }
export const CreateItem = Input(createItemFields)

/** Only given fields change. */
export const updateItemFields = { name: optional(Name), ...itemFields }
export const UpdateItem = Input(updateItemFields)

export const createCategoryFields = { name: Name, sortOrder: optional(SortOrder) }
export const CreateCategory = Input(createCategoryFields)

export const updateCategoryFields = { name: optional(Name), sortOrder: optional(SortOrder) }
export const UpdateCategory = Input(updateCategoryFields)

export class CatalogItemNotFound
  extends Schema.TaggedError<CatalogItemNotFound>()("CatalogItemNotFound", {}, failsWith(404))
{
  override get message() {
    return "The business has no such item"
  }
}

export class CatalogCategoryNotFound
  extends Schema.TaggedError<CatalogCategoryNotFound>()("CatalogCategoryNotFound", {}, failsWith(404))
{
  override get message() {
    return "The business has no such category"
  }
}

export class CategoryNameTaken
  extends Schema.TaggedError<CategoryNameTaken>()("CategoryNameTaken", {}, failsWith(409))
{
  override get message() {
    return "The business has a category of this name already"
  }
}

export class CatalogFull extends Schema.TaggedError<CatalogFull>()("CatalogFull", {
  what: Schema.Literal("items", "categories"),
  limit: Schema.Int
}, failsWith(409, "LIMIT_EXCEEDED")) {
  override get message() {
    return `A catalog has at most ${this.limit} ${this.what}`
  }
  get details() {
    return { limit: this.limit }
  }
}
