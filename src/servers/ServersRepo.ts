import { ProjectNotFound } from "#src/projects/Project.ts"
import { anyRow, Count, dieOnSql, many, maybe, one, onForeignKey, onUnique, run } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema, type Statement } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { type ByoaConfig } from "./ByoaConfig.ts"
import { type ServerId, ServerRow, SlugTaken } from "./Server.ts"
import { fromSleep, type MachineEvent, rules, type ServerEvent } from "./transitions.ts"

const OwnedRow = Schema.Struct({ ...ServerRow.fields, accountId: Schema.String })
const McpRow = Schema.Struct({
  id: Schema.String,
  requireMcp: Schema.NullOr(Schema.Boolean),
  imageUri: Schema.NullOr(Schema.String),
  isOfPublishedBusiness: Schema.Boolean
})
const NewRow = ServerRow.omit(
  "status",
  "authMode",
  "byoaConfig",
  "access",
  "allowedEmails",
  "activeDeploymentId",
  "generation",
  "asleepAt",
  "wakeFailures",
  "createdAt",
  "updatedAt"
)

/** An attempt to wake a server. */
export interface WakeFailure {
  /** In a row, this one included where it counts. */
  readonly failures: number
  /** For whoever sends requests: nothing of what the machine wrote. A sentence without its full stop. */
  readonly problem: string
  readonly retrySeconds: number
}

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

    /** As JSON's text: the driver would send the word none as it is, and null as JSON's. */
    const stored = <Fields extends Readonly<Record<string, unknown>>>(fields: Fields) =>
      (fields["egress"] ?? null) === null ? fields : { ...fields, egress: JSON.stringify(fields["egress"]) }

    const insert = SqlSchema.single({
      Request: NewRow,
      Result: ServerRow,
      execute: (row) => sql`INSERT INTO servers ${sql.insert(stored(row))} RETURNING *`
    })
    const update = maybe(ServerRow)((id: ServerId, fields: Readonly<Record<string, unknown>>) =>
      sql`UPDATE servers SET ${sql.update(stored(fields))}, updated_at = now() WHERE id = ${id} RETURNING *`
    )
    /** Sets the state that an event leads to, if the present state allows the event and the condition holds. */
    const apply = maybe(ServerRow)((
      id: string,
      event: ServerEvent,
      condition: Statement.Fragment,
      assignments = sql``
    ) =>
      sql`UPDATE servers SET status = ${rules[event].to}, ${assignments} updated_at = now(),
              asleep_at = ${event === "fellAsleep" ? sql`clock_timestamp()` : sql`NULL`},
              ${rules[event].to === "running" ? sql`running_since = clock_timestamp(),` : sql``}
              ${
        event === "deploymentFailed" || rules[event].to !== "error"
          ? sql`failed_by_deployment = ${event === "deploymentFailed"},`
          : sql``
      }
              wake_failures = 0, wake_problem = NULL, wake_retry_at = NULL, restarting_until = NULL
              WHERE id = ${id} AND ${sql.in("status", rules[event].from)} AND ${condition}
                ${fromSleep.includes(event) ? sql`AND asleep_at IS NOT NULL` : sql``} RETURNING *`
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
      /** What the servers' `requireMcp` is decided by. A business is published also while that is under way. */
      mcpCircumstances: many(McpRow)((ids: ReadonlyArray<string>) =>
        sql`SELECT s.id, s.require_mcp,
              coalesce(
                (SELECT d.image_uri FROM deployments d WHERE d.server_id = s.id AND d.status <> 'failed'
                  ORDER BY d.version DESC LIMIT 1),
                (SELECT d.image_uri FROM deployments d WHERE d.server_id = s.id ORDER BY d.version DESC LIMIT 1)
              ) AS image_uri,
              EXISTS (SELECT 1 FROM businesses b JOIN listings l ON l.business_id = b.id
                WHERE b.server_id = s.id AND (l.status = 'active'
                  OR EXISTS (SELECT 1 FROM publications w WHERE w.listing_id = l.id))) AS is_of_published_business
            FROM servers s WHERE s.id = ANY(${[...ids]}::text[])`
      ),
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
      /** Unless a newer deployment raised the generation, or the condition about the row of `servers` does not hold. */
      fallAsleep: (id: string, generation: number, condition: Statement.Fragment) =>
        apply(id, "fellAsleep", sql`generation = ${generation} AND ${condition}`),
      /** It sleeps on, and what asked for it before this moment has its answer. */
      wakeFailed: (id: string, generation: number, { failures, problem, retrySeconds }: WakeFailure) =>
        run(sql`UPDATE servers SET asleep_at = clock_timestamp(), wake_failures = ${failures},
              wake_problem = ${problem}, wake_retry_at = clock_timestamp() + ${retrySeconds} * interval '1 second'
            WHERE id = ${id} AND generation = ${generation} AND asleep_at IS NOT NULL`),
      /** Requests wait for it until its next state, for so many seconds at most. */
      restarting: (id: string, generation: number, seconds: number) =>
        run(sql`UPDATE servers SET wake_retry_at = NULL,
              restarting_until = clock_timestamp() + ${seconds} * interval '1 second'
            WHERE id = ${id} AND generation = ${generation}`),
      /** It crashed, and is started again in so many seconds: nobody waits for that. */
      pausing: (id: string, generation: number, seconds: number) =>
        run(sql`UPDATE servers SET restarting_until = NULL,
              wake_retry_at = clock_timestamp() + ${seconds} * interval '1 second'
            WHERE id = ${id} AND generation = ${generation}`),
      /** Locks the server: nobody links it meanwhile. */
      lock: (id: ServerId) => run(sql`SELECT id FROM servers WHERE id = ${id} FOR UPDATE`),
      delete: (id: ServerId) => run(sql`DELETE FROM servers WHERE id = ${id}`)
    } as const
  })
}) {}
