import { run, withLongTimeout } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { openStages } from "./transitions.ts"

/** Maintains the workflow engine's own tables where the engine doesn't. Build the engine first: it creates them. */
export class JournalRepo extends Effect.Service<JournalRepo>()("deployments/JournalRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    return {
      /**
       * Makes the engine read an unprocessed message again. When a connection breaks just after a read, the engine does
       * that itself only after ten minutes. It ignores messages that it is working on.
       */
      deliverAgain: (executionId: string) =>
        run(sql`UPDATE cluster_messages SET last_read = NULL
          WHERE entity_type = 'Workflow/Deploy' AND entity_id = ${executionId} AND NOT processed`),
      /** Deletes the engine's journal of pipelines that ended a day ago: the engine itself keeps it for ever. */
      forget: withLongTimeout(sql)(Effect.asVoid(sql`
        WITH done AS (
          SELECT m.entity_id FROM cluster_messages m JOIN cluster_replies r ON r.request_id = m.id AND r.kind = 0
          WHERE m.entity_type = 'Workflow/Deploy' AND m.tag = 'run' AND m.last_read < now() - interval '1 day'
            AND NOT EXISTS (SELECT 1 FROM deployments d
              WHERE d.id = (m.payload::jsonb ->> 'deploymentId') AND ${sql.in("d.stage", openStages)})
        ), messages AS (
          DELETE FROM cluster_messages m USING done
          WHERE m.entity_type = 'Workflow/Deploy' AND m.entity_id = done.entity_id RETURNING m.id
        )
        DELETE FROM cluster_replies r USING messages WHERE r.request_id = messages.id`))
    } as const
  })
}) {}
