import { Grants } from "#src/oauth/Grants.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { Api } from "../Api.ts"

export const GrantsHandlers = HttpApiBuilder.group(Api, "grants", (handlers) =>
  Effect.map(Grants, (grants) =>
    handlers
      .handle("list", ({ urlParams }) => grants.list(urlParams))
      .handle("revoke", ({ path }) => grants.revoke(path.grantId))))
