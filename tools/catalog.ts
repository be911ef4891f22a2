import {
  Catalog,
  CatalogCategory,
  CatalogItem,
  createCategoryFields,
  createItemFields,
  updateCategoryFields,
  updateItemFields
} from "#src/businesses/Catalog.ts"
import { Catalogs } from "#src/businesses/Catalogs.ts"
import { ReadyConfigs } from "#src/businesses/ReadyConfigs.ts"
import { ReadyConfig } from "#src/format/ReadyConfig.ts"
import { LimitArgument, PageArguments } from "#src/shared/paging.ts"
import { Input } from "#src/shared/text.ts"
import { Effect, Schema } from "effect"
import { catalogText } from "./catalog-text.ts"
import { tool } from "./Tool.ts"

const business = { businessId: Schema.String }
const item = { ...business, itemId: Schema.String }
const category = { ...business, categoryId: Schema.String }
const directory = { toolset: "directory", needs: "session", lowerCaseCodes: true } as const

export const catalogTools = Effect.map(Effect.all([Catalogs, ReadyConfigs]), ([catalogs, configs]) => [
  tool({
    ...directory,
    name: "get_catalog",
    title: "Read a catalog",
    description: "Reads a business's catalog (menu, services, products): categories and items in order, with ids.",
    effect: "read",
    params: Input({ ...business, limit: LimitArgument(100, 50), cursor: PageArguments.cursor }),
    success: Catalog,
    text: catalogText,
    run: ({ businessId, ...page }) => catalogs.get(businessId, page)
  }),
  tool({
    ...directory,
    name: "create_catalog_item",
    title: "Add a catalog item",
    description: "Adds one item to a business's catalog, at the end or at the place sortOrder names. Prices are US " +
      "cents. For many items at once import a file.",
    effect: "create",
    params: Input({ ...business, ...createItemFields }),
    success: CatalogItem,
    run: ({ businessId, ...input }) => catalogs.createItem(businessId, input)
  }),
  tool({
    ...directory,
    name: "update_catalog_item",
    title: "Change a catalog item",
    description: "Changes one item: price (US cents), isAvailable, place, category or text. What is not given stays. " +
      "The business's running server says so within 10 seconds.",
    effect: "update",
    params: Input({ ...item, ...updateItemFields }),
    success: CatalogItem,
    run: ({ businessId, itemId, ...input }) => catalogs.updateItem(businessId, itemId, input)
  }),
  tool({
    ...directory,
    name: "delete_catalog_item",
    title: "Delete a catalog item",
    description: "Deletes one item for good. What is only sold out: update_catalog_item with isAvailable false.",
    effect: "delete",
    params: Input(item),
    run: ({ businessId, itemId }) => catalogs.deleteItem(businessId, itemId)
  }),
  tool({
    ...directory,
    name: "create_catalog_category",
    title: "Add a catalog category",
    description: "Adds a category to a business's catalog, each name once; update_catalog_item moves items into it.",
    effect: "create",
    params: Input({ ...business, ...createCategoryFields }),
    success: CatalogCategory,
    run: ({ businessId, ...input }) => catalogs.createCategory(businessId, input)
  }),
  tool({
    ...directory,
    name: "update_catalog_category",
    title: "Change a catalog category",
    description: "Renames a category, or moves it to the place sortOrder names. Its items stay in it.",
    effect: "update",
    params: Input({ ...category, ...updateCategoryFields }),
    success: CatalogCategory,
    run: ({ businessId, categoryId, ...input }) => catalogs.updateCategory(businessId, categoryId, input)
  }),
  tool({
    ...directory,
    name: "delete_catalog_category",
    title: "Delete a catalog category",
    description: "Deletes a category for good. Its items stay, without one: update_catalog_item gives them another.",
    effect: "delete",
    params: Input(category),
    run: ({ businessId, categoryId }) => catalogs.deleteCategory(businessId, categoryId)
  }),
  tool({
    toolset: "directory",
    needs: ["servers:read"],
    lowerCaseCodes: true,
    name: "business_config",
    title: "Read a business's configuration",
    description: "Reads the configuration (ReadyConfig 2.0) that a business's server is deployed with, once a server " +
      "is linked: to see what it answers from. To who may change servers it shows the credentials of its integrations in clear: pass them on to nobody.",
    effect: "read",
    params: Input(business),
    success: ReadyConfig,
    run: ({ businessId }) => configs.get(businessId)
  })
])
