import { data } from "#http/answers/envelope.ts"
import { apiOf } from "#http/answers/group.ts"
import { Verification } from "#src/businesses/Verification.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { VerificationApi } from "./Api.ts"

export const VerificationHandlers = HttpApiBuilder.group(
  apiOf(VerificationApi),
  "verification",
  (handlers) =>
    Effect.map(Verification, (verification) =>
      handlers
        .handle("sendCode", ({ path }) => Effect.map(verification.sendCode(path.businessId), data))
        .handle("confirm", ({ path, payload }) => Effect.map(verification.confirm(path.businessId, payload.code), data))
        .handle("requestReview", ({ path }) => Effect.map(verification.requestReview(path.businessId), data)))
)
