import { type Actor } from "#src/accounts/CurrentActor.ts"
import { Quotas } from "#src/accounts/Quotas.ts"
import { transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { refused } from "./Refusal.ts"
import { UploadsRepo } from "./UploadsRepo.ts"

/** Limits the bytes that an account has uploaded. Serialised for each account, so that none is counted too late. */
export class UploadQuota extends Effect.Service<UploadQuota>()("uploads/UploadQuota", {
  effect: Effect.gen(function*() {
    const quotas = yield* Quotas
    const repo = yield* UploadsRepo
    const sql = yield* SqlClient.SqlClient

    /** Runs `write` when so many more bytes fit beside all but the upload `without`; fails with DENIED else. */
    const admit = <A, E, R>(
      { accountId, plan }: Actor,
      bytes: number,
      without: string,
      write: Effect.Effect<A, E, R>
    ) =>
      Effect.gen(function*() {
        yield* quotas.lock(accountId)
        const used = yield* repo.used(accountId, without)
        yield* Effect.mapError(
          quotas.check(plan, "uploadBytes", used, bytes),
          ({ details, message }) => refused("DENIED", message, details)
        )
        return yield* write
      }).pipe(transactionally(sql))

    return { admit, used: (accountId: string) => repo.used(accountId, "") } as const
  })
}) {}
