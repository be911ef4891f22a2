import { type Actor } from "#src/accounts/CurrentActor.ts"
import { Unauthorized } from "#src/accounts/Policy.ts"
import { type HubQuotaExceeded } from "#src/hub/HubKey.ts"
import { hubKeyPrefix, HubKeys } from "#src/hub/HubKeys.ts"
import { Effect, Option } from "effect"
import { type IncomingHttpHeaders } from "node:http"

export type HubCaller =
  | { readonly _tag: "Authenticated"; readonly actor: Actor }
  /** The error is the answer, also where anybody may ask (http/front/front-door.ts). */
  | { readonly _tag: "Refused"; readonly error: Unauthorized | HubQuotaExceeded }

export const notValid = new Unauthorized({ reason: "The credential is not valid: unknown, expired or revoked" })

export const isHubKey = (credential: string) => credential.startsWith(hubKeyPrefix)

/** Makes the function that identifies the holder of a hub key, whose request it counts. */
export const makeByHubKey = Effect.map(
  HubKeys,
  (hubKeys) => (key: string): Effect.Effect<HubCaller> =>
    hubKeys.authenticate(key).pipe(
      Effect.flatMap(Option.match({ onNone: () => notValid, onSome: Effect.succeed })),
      Effect.match({
        onFailure: (error): HubCaller => ({ _tag: "Refused", error }),
        onSuccess: (actor): HubCaller => ({ _tag: "Authenticated", actor })
      })
    )
)
export type ByHubKey = Effect.Effect.Success<typeof makeByHubKey>

/** The hub key of a request to a hosted server, if any. Another credential is the server's matter. */
export const hubKeyOf = (headers: IncomingHttpHeaders): string | undefined => {
  const { authorization, "x-api-key": apiKey } = headers
  const sent = authorization === undefined ? apiKey : /^bearer +(\S+) *$/i.exec(authorization)?.[1]
  return typeof sent === "string" && isHubKey(sent) ? sent : undefined
}
