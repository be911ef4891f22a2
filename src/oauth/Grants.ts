import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { sessionOnly, withPolicy } from "#src/accounts/Policy.ts"
import { isId } from "#src/shared/ids.ts"
import { type PageRequest, paginate } from "#src/shared/paging.ts"
import { Effect } from "effect"
import { GrantNotFound } from "./Grant.ts"
import { GrantsRepo } from "./GrantsRepo.ts"

const isGrantId = (text: string) => isId("gra", text)

/** What the caller allowed which OAuth clients, and its end. */
export class Grants extends Effect.Service<Grants>()("oauth/Grants", {
  effect: Effect.gen(function*() {
    const repo = yield* GrantsRepo

    const list = Effect.fn("Grants.list")(function*(request: PageRequest) {
      const { accountId } = yield* CurrentActor
      return yield* paginate({
        list: `grants ${accountId}`,
        request,
        isKey: isGrantId,
        read: (after, count) => repo.page(accountId, after, count),
        keyOf: (grant) => grant.id,
        total: repo.total(accountId)
      })
    }, withPolicy(sessionOnly))

    /** Codes and refresh tokens end at once, access tokens wherever they are checked. The client must ask again. */
    const revoke = Effect.fn("Grants.revoke")(function*(grantId: string) {
      const { accountId } = yield* CurrentActor
      const revoked = isGrantId(grantId) && (yield* repo.revoke(grantId, accountId))
      if (!revoked) return yield* new GrantNotFound()
    }, withPolicy(sessionOnly))

    return { list, revoke } as const
  })
}) {}
