import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { sessionOnly, withPolicy } from "#src/accounts/Policy.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { ApiKeys } from "#src/projects/ApiKeys.ts"
import { publicUrl } from "#src/servers/addresses.ts"
import { isId, newId } from "#src/shared/ids.ts"
import { type PageRequest, paginate } from "#src/shared/paging.ts"
import { transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Array, Effect, Option } from "effect"
import { GrantNotFound, renewableClientIds } from "./Grant.ts"
import { type GrantRow, GrantsRepo } from "./GrantsRepo.ts"
import { tellRevoked } from "./RevocationListener.ts"

const isGrantId = (text: string) => isId("gra", text)

/** The caller's grants to OAuth clients, and their revocation. */
export class Grants extends Effect.Service<Grants>()("oauth/Grants", {
  effect: Effect.gen(function*() {
    const repo = yield* GrantsRepo
    const settings = yield* CurrentSettings

    /** Shows a server's current URL, which may differ from the one that was approved. */
    const view = ({ slug, ...grant }: GrantRow): Omit<GrantRow, "slug"> =>
      slug === null ? grant : { ...grant, resource: publicUrl(settings, slug) }
    const apiKeys = yield* ApiKeys
    const sql = yield* SqlClient.SqlClient

    const list = Effect.fn("Grants.list")(function*(request: PageRequest) {
      const { accountId } = yield* CurrentActor
      return yield* paginate({
        list: `grants ${accountId}`,
        request,
        isKey: isGrantId,
        read: (after, count) => Effect.map(repo.page(accountId, after, count), Array.map(view)),
        keyOf: (grant) => grant.id,
        total: () => repo.total(accountId)
      })
    }, withPolicy(sessionOnly))

    /** The families of tokens that end with it. */
    const end = Effect.fn("Grants.end")(function*(grantId: string, accountId: string) {
      const families = yield* repo.revoke(grantId, accountId)
      if (Option.isSome(families)) yield* apiKeys.endWithGrant(grantId)
      return families
    }, transactionally(sql))

    /**
     * Also revokes at once all that came of the grant: codes, tokens, and the API keys that the client made. The client
     * must ask again.
     */
    const revoke = Effect.fn("Grants.revoke")(function*(grantId: string) {
      const { accountId } = yield* CurrentActor
      const families = isGrantId(grantId) ? yield* end(grantId, accountId) : Option.none()
      if (Option.isNone(families)) return yield* new GrantNotFound()
      yield* Effect.forEach(families.value, tellRevoked, { discard: true })
    }, withPolicy(sessionOnly))

    /** Allows again what nobody was asked for, and the account has revoked; only its user can ask for that here. */
    const renew = Effect.fn("Grants.renew")(function*(grantId: string) {
      const { accountId } = yield* CurrentActor
      if (!isGrantId(grantId)) return yield* new GrantNotFound()
      yield* repo.renew(grantId, accountId, newId("fam"))
      const grant = Option.getOrUndefined(yield* repo.find(grantId, accountId))
      return grant !== undefined && renewableClientIds.includes(grant.clientId)
        ? view(grant)
        : yield* new GrantNotFound()
    }, withPolicy(sessionOnly))

    return { list, revoke, renew } as const
  })
}) {}
