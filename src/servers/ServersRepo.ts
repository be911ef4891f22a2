import { ProjectNotFound } from "#src/projects/Project.ts"
import { anyRow, Count, dieOnSql, many, maybe, one, onForeignKey, onUnique, run } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema, type Statement } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { type ByoaConfig } from "./ByoaConfig.ts"
import { type ServerId, ServerRow, SlugTaken } from "./Server.ts"
import { type MachineEvent, rules, type ServerEvent } from "./transitions.ts"

const OwnedRow = Schema.Struct({ ...ServerRow.fields, accountId: Schema.String })
const NewRow = ServerRow.omit(
  "status",
  "authMode",
  "byoaConfig",
  "access",
  "allowedEmails",
  "activeDeploymentId",
  "generation",
  "createdAt",
  "updatedAt"
)

/** The scope of a list: one project, or every project of an account. */
export type Span = { readonly projectId: string } | { readonly accountId: string }

export class ServersRepo extends Effect.Service<ServersRepo>()("servers/ServersRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const pg = yield* PgClient.PgClient

    const within = (span: Span) =>
      "projectId" in span
        ? sql`project_id = ${span.projectId}`
        : sql`project_id IN (SELECT id FROM projects WHERE account_id = ${span.accountId})`

    const insert = SqlSchema.single({
      Request: NewRow,
      Result: ServerRow,
      execute: (row) => sql`INSERT INTO servers ${sql.insert(row)} RETURNING *`
    })
    const update = maybe(ServerRow)((id: ServerId, fields: Readonly<Record<string, unknown>>) =>
      sql`UPDATE servers SET ${sql.update(fields)}, updated_at = now() WHERE id = ${id} RETURNING *`
    )
    /** Sets the state that an event leads to, if the present state allows the event and the condition holds. */
    const apply = maybe(ServerRow)((
      id: string,
      event: ServerEvent,
      condition: Statement.Fragment,
      assignments = sql``
    ) =>
      sql`UPDATE servers SET status = ${rules[event].to}, ${assignments} updated_at = now()
              WHERE id = ${id} AND ${sql.in("status", rules[event].from)} AND ${condition} RETURNING *`
    )

    return {
      /** Whether no account ever had the slug. */
      isFree: (slug: string) =>
        Effect.map(anyRow(sql`SELECT slug FROM slugs WHERE slug = ${slug}`), (reserved) => !reserved),
      /**
       * Reserves a slug; false when another account has, or had, it. An account may reuse its own deleted servers'
       * slugs.
       */
      reserveSlug: (slug: string, accountId: string) =>
        anyRow(
          sql`INSERT INTO slugs ${sql.insert({ slug, accountId })}
            ON CONFLICT (slug) DO UPDATE SET slug = excluded.slug WHERE slugs.account_id = excluded.account_id
            RETURNING slug`
        ),
      insert: (row: typeof NewRow.Type) =>
        insert(row).pipe(
          onUnique("servers_slug_key", () => new SlugTaken({ slug: row.slug })),
          onForeignKey("servers_project_id_fkey", () => new ProjectNotFound()),
          dieOnSql
        ),
      find: maybe(OwnedRow)((id: string) =>
        sql`SELECT s.*, p.account_id FROM servers s JOIN projects p ON p.id = s.project_id WHERE s.id = ${id}`
      ),
      page: many(ServerRow)((span: Span, after: string | undefined, count: number) =>
        sql`SELECT * FROM servers WHERE ${within(span)}
            ${after === undefined ? sql`` : sql`AND id < ${after}`} ORDER BY id DESC LIMIT ${count}`
      ),
      total: one(Count)((span: Span) => sql`SELECT count(*)::int AS count FROM servers WHERE ${within(span)}`),
      update,
      /** `byoaConfig` null switches back to our own authorization server. */
      configureAuth: (id: ServerId, byoaConfig: ByoaConfig | null, fields: Readonly<Record<string, unknown>>) =>
        update(id, { ...fields, byoaConfig: byoaConfig === null ? null : pg.json(byoaConfig) }),
      /** Unless a deployment is active. */
      deploymentBegun: (id: string) => apply(id, "deploymentBegun", sql`active_deployment_id IS NULL`),
      deploymentServes: (id: string, deploymentId: string) =>
        apply(
          id,
          "deploymentServes",
          sql`true`,
          sql`active_deployment_id = ${deploymentId}, generation = generation + 1,`
        ),
      deploymentFailed: (id: string) => apply(id, "deploymentFailed", sql`true`),
      /** Unless a newer deployment raised the generation. */
      apply: (id: string, generation: number, event: MachineEvent) => apply(id, event, sql`generation = ${generation}`),
      /** Locks the server: nobody links it meanwhile. */
      lock: (id: ServerId) => run(sql`SELECT id FROM servers WHERE id = ${id} FOR UPDATE`),
      delete: (id: ServerId) => run(sql`DELETE FROM servers WHERE id = ${id}`)
    } as const
  })
}) {}
