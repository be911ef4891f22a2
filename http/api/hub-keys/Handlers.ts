import { data } from "#http/answers/envelope.ts"
import { apiOf } from "#http/answers/group.ts"
import { HubKeys } from "#src/hub/HubKeys.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { HubKeysApi } from "./Api.ts"

export const HubKeysHandlers = HttpApiBuilder.group(
  apiOf(HubKeysApi),
  "hubKeys",
  (handlers) =>
    Effect.map(HubKeys, (keys) => {
      const create = ({ payload }: { readonly payload: Parameters<typeof keys.create>[0] }) =>
        Effect.map(keys.create(payload), data)
      const list = () => Effect.map(keys.list(), data)
      const revoke = ({ path }: { readonly path: { readonly hubKeyId: string } }) => keys.revoke(path.hubKeyId)
      return handlers
        .handle("create", create)
        .handle("list", list)
        .handle("revoke", revoke)
        .handle("createByOldPath", create)
        .handle("listByOldPath", list)
        .handle("revokeByOldPath", revoke)
    })
)
