import { dieOnSql } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Option, Schema } from "effect"
import { type ProjectId, ProjectRow } from "./Project.ts"

const Count = Schema.Struct({ count: Schema.Int })

export class ProjectsRepo extends Effect.Service<ProjectsRepo>()("projects/ProjectsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const insert = SqlSchema.findOne({
      Request: ProjectRow.pick("id", "accountId", "name", "slug"),
      Result: ProjectRow,
      // A violation would end the transaction that the creation may be part of.
      execute: (row) =>
        sql`INSERT INTO projects ${sql.insert(row)} ON CONFLICT (account_id, slug) DO NOTHING RETURNING *`
    })
    const find = SqlSchema.findOne({
      Request: Schema.String,
      Result: ProjectRow,
      execute: (id) => sql`SELECT * FROM projects WHERE id = ${id}`
    })
    const rename = SqlSchema.findOne({
      Request: Schema.Struct({ id: Schema.String, name: Schema.String }),
      Result: ProjectRow,
      execute: ({ id, name }) =>
        sql`UPDATE projects SET name = ${name}, updated_at = now() WHERE id = ${id} RETURNING *`
    })
    const page = SqlSchema.findAll({
      Request: Schema.Struct({
        accountId: Schema.String,
        only: Schema.UndefinedOr(Schema.String),
        after: Schema.UndefinedOr(Schema.String),
        count: Schema.Int
      }),
      Result: ProjectRow,
      execute: ({ accountId, after, count, only }) =>
        sql`SELECT * FROM projects WHERE account_id = ${accountId}
            ${only === undefined ? sql`` : sql`AND id = ${only}`}
            ${after === undefined ? sql`` : sql`AND id < ${after}`}
            ORDER BY id DESC LIMIT ${count}`
    })
    const total = SqlSchema.single({
      Request: Schema.Struct({ accountId: Schema.String, only: Schema.UndefinedOr(Schema.String) }),
      Result: Count,
      execute: ({ accountId, only }) =>
        sql`SELECT count(*)::int AS count FROM projects WHERE account_id = ${accountId}
            ${only === undefined ? sql`` : sql`AND id = ${only}`}`
    })

    const remove = SqlSchema.findAll({
      Request: Schema.String,
      Result: Schema.Struct({ id: Schema.String }),
      execute: (id) =>
        sql`WITH gone AS (DELETE FROM projects WHERE id = ${id} RETURNING id)
            SELECT s.id FROM servers s JOIN gone ON gone.id = s.project_id`
    })

    return {
      /** Undefined when the slug is taken in the account. */
      insert: (row: Pick<typeof ProjectRow.Type, "id" | "accountId" | "name" | "slug">) =>
        dieOnSql(Effect.map(insert(row), Option.getOrUndefined)),
      find: (id: string) => dieOnSql(find(id)),
      rename: (id: ProjectId, name: string) => dieOnSql(rename({ id, name })),
      /** Deletes the project with all that belongs to it; the ids of the servers that went. */
      delete: (id: ProjectId) => dieOnSql(Effect.map(remove(id), (rows) => rows.map((row) => row.id))),
      page: (accountId: string, only: string | undefined, after: string | undefined, count: number) =>
        dieOnSql(page({ accountId, only, after, count })),
      total: (accountId: string, only: string | undefined) =>
        total({ accountId, only }).pipe(Effect.map((row) => row.count), dieOnSql)
    } as const
  })
}) {}
