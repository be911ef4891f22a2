import { anyRow, dieOnSql, foreignKeyViolation, maybe, run } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import { Effect, Option, Predicate, Schema } from "effect"
import { ClientKind } from "./Client.ts"

/** The registered metadata that has no column of its own. */
const RegisteredMetadata = Schema.Struct({
  grant_types: Schema.Array(Schema.String),
  response_types: Schema.Array(Schema.String),
  token_endpoint_auth_method: Schema.Literal("none")
})

export const ClientRow = Schema.Struct({
  clientId: Schema.String,
  kind: ClientKind,
  clientName: Schema.String,
  redirectUris: Schema.Array(Schema.String),
  scope: Schema.NullOr(Schema.String),
  document: RegisteredMetadata,
  etag: Schema.NullOr(Schema.String),
  freshUntil: Schema.NullOr(Schema.DateFromSelf),
  lastFetchedAt: Schema.NullOr(Schema.DateFromSelf),
  registeredAt: Schema.DateFromSelf
})
export type ClientRow = typeof ClientRow.Type

const Link = Schema.Struct({ serverId: Schema.String, clientId: Schema.String, limit: Schema.Int })
const Linked = Schema.Struct({ registeredAt: Schema.DateFromSelf })

export class ClientsRepo extends Effect.Service<ClientsRepo>()("oauth/ClientsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const pg = yield* PgClient.PgClient

    const save = SqlSchema.single({
      Request: ClientRow,
      Result: ClientRow,
      execute: ({ document, ...row }) =>
        sql`INSERT INTO oauth_clients ${sql.insert({ ...row, document: pg.json(document) })}
            ON CONFLICT (client_id) DO UPDATE SET client_name = excluded.client_name,
              redirect_uris = excluded.redirect_uris, scope = excluded.scope, document = excluded.document,
              etag = excluded.etag, fresh_until = excluded.fresh_until, last_fetched_at = excluded.last_fetched_at
            RETURNING *`
    })
    // A repeated registration keeps its first time; a server at its limit takes no new client.
    const link = SqlSchema.findOne({
      Request: Link,
      Result: Linked,
      execute: ({ clientId, limit, serverId }) =>
        sql`INSERT INTO server_clients (server_id, client_id, registered_at)
            SELECT ${serverId}, ${clientId}, now()
            WHERE (SELECT count(*) FROM server_clients
                   WHERE server_id = ${serverId} AND client_id <> ${clientId}) < ${limit}
            ON CONFLICT (server_id, client_id) DO UPDATE SET client_id = excluded.client_id
            RETURNING registered_at`
    })

    return {
      find: maybe(ClientRow)((clientId: string) => sql`SELECT * FROM oauth_clients WHERE client_id = ${clientId}`),
      /** Creates, or replaces all but the kind and the time of registration. */
      save: (row: ClientRow) => dieOnSql(save(row)),
      /** Registers a client for a server; none when the server has `limit` others, or no longer exists. */
      link: (request: typeof Link.Type) =>
        link(request).pipe(
          Effect.catchIf(
            (error) => Predicate.isTagged(error, "SqlError") && foreignKeyViolation(error) !== undefined,
            () => Effect.succeed(Option.none<typeof Linked.Type>())
          ),
          dieOnSql
        ),
      isLinked: (serverId: string, clientId: string) =>
        anyRow(sql`SELECT registered_at FROM server_clients WHERE server_id = ${serverId} AND client_id = ${clientId}`),
      /** Deletes clients without a grant or a server that are older than `before`, or not among the newest `limit`. */
      sweep: ({ before, limit }: { readonly before: Date; readonly limit: number }) =>
        run(sql`WITH unused AS (
              SELECT client_id, greatest(registered_at, last_fetched_at) AS seen_at FROM oauth_clients c
              WHERE NOT EXISTS (SELECT FROM oauth_grants g WHERE g.client_id = c.client_id)
                AND NOT EXISTS (SELECT FROM server_clients s WHERE s.client_id = c.client_id))
            DELETE FROM oauth_clients WHERE client_id IN (
              SELECT client_id FROM unused WHERE seen_at < ${before}
              UNION ALL (SELECT client_id FROM unused ORDER BY seen_at DESC OFFSET ${limit}))`)
    } as const
  })
}) {}
