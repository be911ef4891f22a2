import { maybe, run, transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Option, Schema } from "effect"

/** The position up to which each machine's output is in its server's log. */
export class OutputRepo extends Effect.Service<OutputRepo>()("deployments/OutputRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const read = maybe(Schema.Struct({ position: Schema.NumberFromString }).pipe(Schema.pluck("position")))((
      machine: string
    ) => sql`SELECT position FROM machine_output_positions WHERE machine = ${machine}`)
    return {
      position: (machine: string) => Effect.map(read(machine), Option.getOrElse(() => 0)),
      /** Advances in the same transaction as `lines` writes. Stores nothing for a deleted server. */
      advance: <R>(machine: string, serverId: string, position: number, lines: Effect.Effect<void, never, R>) =>
        transactionally(sql)(Effect.zipRight(
          sql`INSERT INTO machine_output_positions (machine, server_id, position)
              SELECT ${machine}, id, ${position}::bigint FROM servers WHERE id = ${serverId}
              ON CONFLICT (machine) DO UPDATE SET position = excluded.position`,
          lines
        )),
      forget: (machine: string) => run(sql`DELETE FROM machine_output_positions WHERE machine = ${machine}`)
    } as const
  })
}) {}
