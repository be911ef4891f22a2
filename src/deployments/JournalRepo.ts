import { patiently, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { openStages } from "./transitions.ts"

/** The workflow engine's own tables, for what it does not do itself. It must have been built before. */
export class JournalRepo extends Effect.Service<JournalRepo>()("deployments/JournalRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    return {
      /**
       * Has the engine look again at what it took from its tables and did not answer. It does so itself only after
       * ten minutes, when a connection broke just after the taking. What it is at work on, it passes over.
       */
      deliverAgain: (executionId: string) =>
        run(sql`UPDATE cluster_messages SET last_read = NULL
          WHERE entity_type = 'Workflow/Deploy' AND entity_id = ${executionId} AND NOT processed`),
      /** The workflow engine keeps each step it took; a day after a pipeline ended nobody asks for them. */
      forget: patiently(sql)(Effect.asVoid(sql`
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
