import { apiOf } from "#http/answers/group.ts"
import { PushedImages } from "#src/uploads/PushedImages.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { ImagesApi } from "./Api.ts"

export const ImagesHandlers = HttpApiBuilder.group(
  apiOf(ImagesApi),
  "images",
  (handlers) =>
    Effect.map(PushedImages, (images) =>
      handlers
        .handle("list", ({ path, urlParams }) => images.list(path.projectId, urlParams))
        .handle("remove", ({ path }) => images.remove(path.projectId, path.digest)))
)
