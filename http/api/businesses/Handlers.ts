import { data } from "#http/answers/envelope.ts"
import { apiOf } from "#http/answers/group.ts"
import { Businesses } from "#src/businesses/Businesses.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { BusinessesApi } from "./Api.ts"

export const BusinessesHandlers = HttpApiBuilder.group(
  apiOf(BusinessesApi),
  "businesses",
  (handlers) =>
    Effect.map(Businesses, (businesses) =>
      handlers
        .handle("list", ({ urlParams }) => businesses.list(urlParams))
        .handle("create", ({ payload }) => Effect.map(businesses.create(payload), data))
        .handle("get", ({ path }) => Effect.map(businesses.get(path.businessId), data))
        .handle("update", ({ path, payload }) => Effect.map(businesses.update(path.businessId, payload), data))
        .handle("remove", ({ path }) => businesses.remove(path.businessId))
        .handle(
          "updateListing",
          ({ path, payload }) => Effect.map(businesses.updateListing(path.businessId, payload), data)
        ))
)
