import { Verification } from "#src/businesses/Verification.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { Api } from "../Api.ts"
import { data } from "../envelope.ts"
import { takesNoBody } from "../no-body.ts"

export const VerificationHandlers = HttpApiBuilder.group(
  Api,
  "verification",
  (handlers) =>
    Effect.map(Verification, (verification) =>
      handlers
        .handle("sendCode", ({ path }) => takesNoBody(Effect.map(verification.sendCode(path.businessId), data)))
        .handle("confirm", ({ path, payload }) => Effect.map(verification.confirm(path.businessId, payload.code), data))
        .handle("requestReview", ({ path }) =>
          takesNoBody(Effect.map(verification.requestReview(path.businessId), data))))
)
