import { Data } from "#http/answers/envelope.ts"
import { businessPath } from "#http/api/businesses/Api.ts"
import { Authentication } from "#http/callers/Authentication.ts"
import { RouteTraits } from "#http/traits/Traits.ts"
import { Forbidden } from "#src/accounts/Policy.ts"
import { BusinessNotFound } from "#src/businesses/Business.ts"
import {
  Catalog,
  CatalogCategory,
  CatalogCategoryNotFound,
  CatalogFull,
  CatalogItem,
  CatalogItemNotFound,
  CatalogQuery,
  CategoryNameTaken,
  CreateCategory,
  CreateItem,
  UpdateCategory,
  UpdateItem
} from "#src/businesses/Catalog.ts"
import { BadRequest, Invalid } from "#src/shared/Failure.ts"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"

const root = "/api/v1/ready/businesses/:businessId/catalog"
const itemPath = Schema.Struct({ ...businessPath.fields, itemId: Schema.String })
const categoryPath = Schema.Struct({ ...businessPath.fields, categoryId: Schema.String })

export class CatalogApi extends HttpApiGroup.make("catalog")
  .add(
    HttpApiEndpoint.get("get", root)
      .setPath(businessPath)
      .setUrlParams(CatalogQuery)
      .addSuccess(Data(Catalog))
      .addError(BadRequest)
      .annotate(OpenApi.Summary, "Read a business's catalog: categories and items, each in order")
      .annotate(
        OpenApi.Description,
        "All items; with limit (1–100) a page of them, and meta.cursor leads to the next. The categories come with the " +
          "first."
      )
  )
  .add(
    HttpApiEndpoint.post("createItem", `${root}/items`)
      .setPath(businessPath)
      .setPayload(CreateItem)
      .addSuccess(Data(CatalogItem), { status: 201 })
      .addError(CatalogFull)
      .addError(Invalid)
      .annotate(OpenApi.Summary, "Add an item; 5,000 a business at most")
      .annotate(
        OpenApi.Description,
        "At the end, or at the place that sortOrder names: what is there already, and all after it, moves on by one. " +
          "409 limit_exceeded when the catalog is full. The business's configuration has it at once, its running " +
          "server within 10 seconds."
      )
  )
  .add(
    HttpApiEndpoint.patch("updateItem", `${root}/items/:itemId`)
      .setPath(itemPath)
      .setPayload(UpdateItem)
      .addSuccess(Data(CatalogItem))
      .addError(CatalogItemNotFound)
      .addError(Invalid)
      .annotate(OpenApi.Summary, "Change an item: price, availability, place, category, text")
      .annotate(OpenApi.Description, "At least one field. What is not given stays; metadata is replaced as a whole.")
  )
  .add(
    HttpApiEndpoint.del("deleteItem", `${root}/items/:itemId`)
      .setPath(itemPath)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(CatalogItemNotFound)
      .annotate(OpenApi.Summary, "Delete an item")
  )
  .add(
    HttpApiEndpoint.post("createCategory", `${root}/categories`)
      .setPath(businessPath)
      .setPayload(CreateCategory)
      .addSuccess(Data(CatalogCategory), { status: 201 })
      .addError(CategoryNameTaken)
      .addError(CatalogFull)
      .addError(Invalid)
      .annotate(OpenApi.Summary, "Add a category; 500 a business at most, each name once")
  )
  .add(
    HttpApiEndpoint.patch("updateCategory", `${root}/categories/:categoryId`)
      .setPath(categoryPath)
      .setPayload(UpdateCategory)
      .addSuccess(Data(CatalogCategory))
      .addError(CatalogCategoryNotFound)
      .addError(CategoryNameTaken)
      .addError(Invalid)
      .annotate(OpenApi.Summary, "Rename or move a category")
  )
  .add(
    HttpApiEndpoint.del("deleteCategory", `${root}/categories/:categoryId`)
      .setPath(categoryPath)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(CatalogCategoryNotFound)
      .annotate(OpenApi.Summary, "Delete a category; its items stay, without one")
  )
  .addError(BusinessNotFound)
  .addError(Forbidden)
  .middleware(Authentication)
  .annotate(RouteTraits, { takes: "session" })
  .annotate(OpenApi.Title, "Catalog")
{}
