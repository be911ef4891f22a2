import { pathOf } from "#http/connection/path-of.ts"
import { type Actor } from "#src/accounts/CurrentActor.ts"
import { isUlid } from "#src/shared/ids.ts"
import { digestOf } from "#src/shared/tokens.ts"
import { type HttpServerRequest } from "@effect/platform"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect } from "effect"
import { LRUCache } from "lru-cache"

type Request = HttpServerRequest.HttpServerRequest

const credentialsKept = 10_000

const credentialOf = ({ headers }: Request) => {
  const { authorization } = headers
  return authorization === undefined ? undefined : digestOf(authorization).toString("base64")
}

/**
 * What a path names last, read for an account while the credential of the request is checked. Whose it is, is known from
 * the last time; the answer must not use it before the check says the same.
 */
export const readAhead = <Begun>(begin: (id: string, accountId: string) => Effect.Effect<Begun>) => {
  const accounts = new LRUCache<string, string>({ max: credentialsKept })
  const begun = new WeakMap<object, Begun>()
  return {
    begin: (request: Request) =>
      Effect.suspend(() => {
        const credential = credentialOf(request)
        const accountId = credential === undefined ? undefined : accounts.get(credential)
        if (credential === undefined || accountId === undefined) return Effect.void
        // Only who is let in gives it back: nothing is read for a caller who is over its rate or was logged out.
        accounts.delete(credential)
        const path = pathOf(request.url)
        const id = path.slice(path.lastIndexOf("/") + 1)
        if (!isUlid(id)) return Effect.void
        return Effect.map(begin(id, accountId), (one) => {
          begun.set(NodeHttpServerRequest.toIncomingMessage(request), one)
        })
      }),
    /** What was begun for the request of a caller that is let in. */
    of: (request: Request, { accountId }: Actor) => {
      const credential = credentialOf(request)
      if (credential !== undefined) accounts.set(credential, accountId)
      return begun.get(NodeHttpServerRequest.toIncomingMessage(request))
    }
  } as const
}
