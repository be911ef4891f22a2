import { PlanName } from "#src/plans/Plan.ts"
import { Server } from "#src/servers/Server.ts"
import { maybe } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"

const PolicyRow = Schema.Struct({
  ...Server.pick("id", "byoaConfig").fields,
  egress: Schema.NullOr(Server.fields.egress),
  accountId: Schema.String,
  plan: PlanName
})

export class PoliciesRepo extends Effect.Service<PoliciesRepo>()("egress/PoliciesRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    return {
      find: maybe(PolicyRow)((serverId: string) =>
        sql`SELECT s.id, s.egress, s.byoa_config, p.account_id, u.plan
            FROM servers s JOIN projects p ON p.id = s.project_id JOIN users u ON u.id = p.account_id
            WHERE s.id = ${serverId}`
      )
    } as const
  })
}) {}
