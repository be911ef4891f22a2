import { data } from "#http/answers/envelope.ts"
import { apiOf } from "#http/answers/group.ts"
import { Catalogs } from "#src/businesses/Catalogs.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { CatalogApi } from "./Api.ts"

export const CatalogHandlers = HttpApiBuilder.group(
  apiOf(CatalogApi),
  "catalog",
  (handlers) =>
    Effect.map(Catalogs, (catalogs) =>
      handlers
        .handle("get", ({ path, urlParams }) => Effect.map(catalogs.get(path.businessId, urlParams), data))
        .handle("createItem", ({ path, payload }) => Effect.map(catalogs.createItem(path.businessId, payload), data))
        .handle(
          "updateItem",
          ({ path, payload }) => Effect.map(catalogs.updateItem(path.businessId, path.itemId, payload), data)
        )
        .handle("deleteItem", ({ path }) => catalogs.deleteItem(path.businessId, path.itemId))
        .handle(
          "createCategory",
          ({ path, payload }) => Effect.map(catalogs.createCategory(path.businessId, payload), data)
        )
        .handle(
          "updateCategory",
          ({ path, payload }) => Effect.map(catalogs.updateCategory(path.businessId, path.categoryId, payload), data)
        )
        .handle("deleteCategory", ({ path }) => catalogs.deleteCategory(path.businessId, path.categoryId)))
)
