import { ProjectNotFound } from "#src/projects/Project.ts"
import { dieOnSql, onForeignKey, onUnique } from "#src/shared/sql.ts"
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

/** What a list spans: one project, or every project of an account. */
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
    const find = SqlSchema.findOne({
      Request: Schema.String,
      Result: OwnedRow,
      execute: (id) =>
        sql`SELECT s.*, p.account_id FROM servers s JOIN projects p ON p.id = s.project_id WHERE s.id = ${id}`
    })
    const page = SqlSchema.findAll({
      Request: Schema.Struct({ span: Schema.Any, after: Schema.UndefinedOr(Schema.String), count: Schema.Int }),
      Result: ServerRow,
      execute: ({ after, count, span }) =>
        sql`SELECT * FROM servers WHERE ${within(span as Span)}
            ${after === undefined ? sql`` : sql`AND id < ${after}`} ORDER BY id DESC LIMIT ${count}`
    })
    const one = Schema.Struct({ count: Schema.Int })
    const total = (span: Span) =>
      SqlSchema.single({
        Request: Schema.Void,
        Result: one,
        execute: () => sql`SELECT count(*)::int AS count FROM servers WHERE ${within(span)}`
      })()
    const update = (id: ServerId, fields: Readonly<Record<string, unknown>>) =>
      SqlSchema.findOne({
        Request: Schema.Void,
        Result: ServerRow,
        execute: () => sql`UPDATE servers SET ${sql.update(fields)}, updated_at = now() WHERE id = ${id} RETURNING *`
      })()
    /** Sets the state that an event leads to, where the event may happen and the condition holds. */
    const happened = (id: string, event: ServerEvent, condition: Statement.Fragment, besides = sql``) =>
      SqlSchema.findOne({
        Request: Schema.Void,
        Result: ServerRow,
        execute: () =>
          sql`UPDATE servers SET status = ${rules[event].to}, ${besides} updated_at = now()
              WHERE id = ${id} AND ${sql.in("status", rules[event].from)} AND ${condition} RETURNING *`
      })().pipe(dieOnSql)
    const takeSlug = SqlSchema.findAll({
      Request: Schema.Struct({ slug: Schema.String, accountId: Schema.String }),
      Result: Schema.Struct({ slug: Schema.String }),
      execute: ({ accountId, slug }) =>
        sql`INSERT INTO slugs ${sql.insert({ slug, accountId })}
            ON CONFLICT (slug) DO UPDATE SET slug = excluded.slug WHERE slugs.account_id = excluded.account_id
            RETURNING slug`
    })

    const slugRows = SqlSchema.findAll({
      Request: Schema.String,
      Result: Schema.Struct({ slug: Schema.String }),
      execute: (slug) => sql`SELECT slug FROM slugs WHERE slug = ${slug}`
    })

    return {
      /** Whether nobody ever had the slug. */
      isFree: (slug: string) => dieOnSql(Effect.map(slugRows(slug), (rows) => rows.length === 0)),
      /** Whether the slug is the account's to use: new, or its own from a server it deleted. */
      takeSlug: (slug: string, accountId: string) =>
        dieOnSql(Effect.map(takeSlug({ slug, accountId }), (rows) => rows.length > 0)),
      insert: (row: typeof NewRow.Type) =>
        insert(row).pipe(
          onUnique("servers_slug_key", () => new SlugTaken({ slug: row.slug })),
          onForeignKey("servers_project_id_fkey", () => new ProjectNotFound()),
          dieOnSql
        ),
      find: (id: string) => dieOnSql(find(id)),
      page: (span: Span, after: string | undefined, count: number) => dieOnSql(page({ span, after, count })),
      total: (span: Span) => dieOnSql(Effect.map(total(span), (row) => row.count)),
      update: (id: ServerId, fields: Readonly<Record<string, unknown>>) => dieOnSql(update(id, fields)),
      /** `byoaConfig` null switches back to our own authorization server. */
      configureAuth: (id: ServerId, byoaConfig: ByoaConfig | null, fields: Readonly<Record<string, unknown>>) =>
        dieOnSql(update(id, { ...fields, byoaConfig: byoaConfig === null ? null : pg.json(byoaConfig) })),
      /** Unless something serves already. */
      deploymentBegun: (id: string) => happened(id, "deploymentBegun", sql`active_deployment_id IS NULL`),
      deploymentServes: (id: string, deploymentId: string) =>
        happened(
          id,
          "deploymentServes",
          sql`true`,
          sql`active_deployment_id = ${deploymentId}, generation = generation + 1,`
        ),
      deploymentFailed: (id: string) => happened(id, "deploymentFailed", sql`true`),
      /** Unless it was deployed to since that generation. */
      happened: (id: string, generation: number, event: MachineEvent) =>
        happened(id, event, sql`generation = ${generation}`),
      delete: (id: ServerId) => dieOnSql(Effect.asVoid(sql`DELETE FROM servers WHERE id = ${id}`))
    } as const
  })
}) {}
