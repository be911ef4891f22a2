import { data } from "#http/answers/envelope.ts"
import { apiOf } from "#http/answers/group.ts"
import { Imports } from "#src/imports/Imports.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { ImportsApi } from "./Api.ts"
import { CurrentUpload } from "./upload.ts"

export const ImportsHandlers = HttpApiBuilder.group(
  apiOf(ImportsApi),
  "imports",
  (handlers) =>
    Effect.map(Imports, (imports) =>
      handlers
        .handle("preview", ({ path }) =>
          Effect.map(imports.receive(path.businessId, Effect.flatten(CurrentUpload)), data))
        .handle("confirm", ({ path }) =>
          Effect.map(imports.confirm(path.businessId, path.previewId), data))
        .handle("discard", ({ path }) => imports.discard(path.businessId, path.previewId))
        .handle("revert", ({ path }) => Effect.map(imports.revert(path.businessId, path.importId), data)))
)
