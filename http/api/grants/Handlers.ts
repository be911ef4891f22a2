import { data } from "#http/answers/envelope.ts"
import { apiOf } from "#http/answers/group.ts"
import { Grants } from "#src/oauth/Grants.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { GrantsApi } from "./Api.ts"

export const GrantsHandlers = HttpApiBuilder.group(
  apiOf(GrantsApi),
  "grants",
  (handlers) =>
    Effect.map(Grants, (grants) =>
      handlers
        .handle("list", ({ urlParams }) => grants.list(urlParams))
        .handle("revoke", ({ path }) => grants.revoke(path.grantId))
        .handle("renew", ({ path }) => Effect.map(grants.renew(path.grantId), data)))
)
