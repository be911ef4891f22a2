import { Count, dieOnSql, many, maybe, one, run } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Option, Schema } from "effect"
import { type ProjectId, ProjectRow } from "./Project.ts"

export class ProjectsRepo extends Effect.Service<ProjectsRepo>()("projects/ProjectsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const insert = SqlSchema.findOne({
      Request: ProjectRow.pick("id", "accountId", "name", "slug"),
      Result: ProjectRow,
      // ON CONFLICT, because a unique violation would abort the transaction that the creation may be part of.
      execute: (row) =>
        sql`INSERT INTO projects ${sql.insert(row)} ON CONFLICT (account_id, slug) DO NOTHING RETURNING *`
    })

    return {
      /** Undefined when the slug is taken in the account. */
      insert: (row: Pick<typeof ProjectRow.Type, "id" | "accountId" | "name" | "slug">) =>
        dieOnSql(Effect.map(insert(row), Option.getOrUndefined)),
      find: maybe(ProjectRow)((id: string) => sql`SELECT * FROM projects WHERE id = ${id}`),
      rename: maybe(ProjectRow)((id: ProjectId, name: string) =>
        sql`UPDATE projects SET name = ${name}, updated_at = now() WHERE id = ${id} RETURNING *`
      ),
      serverIds: many(Schema.Struct({ id: Schema.String }).pipe(Schema.pluck("id")))((id: ProjectId) =>
        sql`SELECT id FROM servers WHERE project_id = ${id} ORDER BY id`
      ),
      lockServers: (id: ProjectId) => run(sql`SELECT id FROM servers WHERE project_id = ${id} ORDER BY id FOR UPDATE`),
      /** Deletes the project with all that belongs to it; returns the ids of its servers. */
      delete: many(Schema.Struct({ id: Schema.String }).pipe(Schema.pluck("id")))((id: ProjectId) =>
        sql`WITH deleted AS (DELETE FROM projects WHERE id = ${id} RETURNING id)
            SELECT s.id FROM servers s JOIN deleted ON deleted.id = s.project_id`
      ),
      page: many(ProjectRow)((accountId: string, only: string | undefined, after: string | undefined, count: number) =>
        sql`SELECT * FROM projects WHERE account_id = ${accountId}
            ${only === undefined ? sql`` : sql`AND id = ${only}`}
            ${after === undefined ? sql`` : sql`AND id < ${after}`}
            ORDER BY id DESC LIMIT ${count}`
      ),
      total: one(Count)((accountId: string, only: string | undefined) =>
        sql`SELECT count(*)::int AS count FROM projects WHERE account_id = ${accountId}
            ${only === undefined ? sql`` : sql`AND id = ${only}`}`
      )
    } as const
  })
}) {}
