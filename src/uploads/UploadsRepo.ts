import { anyRow, many, maybe, one, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"

/** An upload that has not ended. */
const Unfinished = Schema.Struct({ id: Schema.String, projectId: Schema.String, repository: Schema.String })
export type Unfinished = typeof Unfinished.Type

const Size = Schema.Struct({ size: Schema.Number }).pipe(Schema.pluck("size"))
const Id = Schema.Struct({ id: Schema.String }).pipe(Schema.pluck("id"))
const Digest = Schema.Struct({ digest: Schema.String }).pipe(Schema.pluck("digest"))

/** Blobs of projects, and uploads on their way to become some. */
export class UploadsRepo extends Effect.Service<UploadsRepo>()("uploads/UploadsRepo", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    const projectOf = maybe(Id)((accountId: string, name: string) =>
      sql`SELECT id FROM projects WHERE account_id = ${accountId} AND (slug = ${name} OR lower(id) = ${name})
          ORDER BY slug = ${name} DESC LIMIT 1`
    )
    return {
      /** The account's project of a slug, or of an id in lower case, as repositories are named. */
      projectOf,
      blob: maybe(Size)((projectId: string, digest: string) =>
        sql`SELECT size::float8 AS size FROM uploaded_blobs WHERE project_id = ${projectId} AND digest = ${digest}`
      ),
      /** Keeps a blob for the manifest that may name it, once an answer has said that it exists. */
      asked: (projectId: string, digest: string) =>
        run(sql`UPDATE uploaded_blobs SET asked_at = now() WHERE project_id = ${projectId} AND digest = ${digest}`),
      putBlob: (projectId: string, digest: string, size: number) =>
        run(sql`INSERT INTO uploaded_blobs ${sql.insert({ projectId, digest, size })}
                ON CONFLICT (project_id, digest) DO UPDATE SET asked_at = now()`),
      /** The blob is gone unless a manifest names it. */
      removeBlob: (projectId: string, digest: string) =>
        anyRow(sql`DELETE FROM uploaded_blobs b WHERE project_id = ${projectId} AND digest = ${digest}
          AND NOT EXISTS (SELECT FROM uploaded_references r WHERE r.project_id = b.project_id AND r.digest = b.digest)
          RETURNING digest`),
      /** Removes blobs that no manifest names: of those given, or all that nobody has asked for within a day. */
      removeUnnamed: (projectId: string, digests: ReadonlyArray<string>) =>
        run(sql`DELETE FROM uploaded_blobs b WHERE project_id = ${projectId} AND ${sql.in("digest", digests)}
          AND coalesce(asked_at, '-infinity') < now() - interval '1 hour'
          AND NOT EXISTS (SELECT FROM uploaded_references r WHERE r.project_id = b.project_id AND r.digest = b.digest)`),
      removeForgotten: run(sql`DELETE FROM uploaded_blobs b
          WHERE greatest(uploaded_at, coalesce(asked_at, uploaded_at)) < now() - interval '1 day'
          AND NOT EXISTS (SELECT FROM uploaded_references r WHERE r.project_id = b.project_id AND r.digest = b.digest)`),
      /** Bytes that the account's uploads take, those that have not ended too; each blob once. */
      used: one(Size)((accountId: string, without: string) =>
        sql`WITH own AS (SELECT id FROM projects WHERE account_id = ${accountId})
            SELECT (
              (SELECT coalesce(sum(size), 0) FROM (SELECT DISTINCT digest, size FROM (
                SELECT digest, size FROM uploaded_blobs WHERE project_id IN (SELECT id FROM own)
                UNION SELECT digest, size FROM uploaded_manifests WHERE project_id IN (SELECT id FROM own)
              ) every) once)
              + (SELECT coalesce(sum(reserved), 0) FROM unfinished_uploads
                WHERE project_id IN (SELECT id FROM own) AND id <> ${without}))::float8 AS size`
      ),
      /** The account's projects that have the blob. */
      projectsWith: many(Id)((accountId: string, digest: string) =>
        sql`SELECT p.id FROM uploaded_blobs b JOIN projects p ON p.id = b.project_id
            WHERE p.account_id = ${accountId} AND b.digest = ${digest}`
      ),
      /** Whether some project of the account has the blob: then another costs nothing. */
      hasAnywhere: (accountId: string, digest: string) =>
        anyRow(sql`SELECT 1 FROM uploaded_blobs b JOIN projects p ON p.id = b.project_id
          WHERE p.account_id = ${accountId} AND b.digest = ${digest}`),
      begin: (row: Unfinished) => run(sql`INSERT INTO unfinished_uploads ${sql.insert(row)}`),
      unfinished: maybe(Unfinished)((id: string, projectId: string, repository: string) =>
        sql`SELECT id, project_id, repository FROM unfinished_uploads
            WHERE id = ${id} AND project_id = ${projectId} AND repository = ${repository}`
      ),
      /** False when it was ended meanwhile. */
      reserve: (id: string, bytes: number) =>
        anyRow(
          sql`UPDATE unfinished_uploads SET reserved = ${bytes}, written_at = now() WHERE id = ${id} RETURNING id`
        ),
      end: (id: string) => run(sql`DELETE FROM unfinished_uploads WHERE id = ${id}`),
      unfinishedOf: one(Schema.Struct({ count: Schema.Int }).pipe(Schema.pluck("count")))((projectId: string) =>
        sql`SELECT count(*)::int AS count FROM unfinished_uploads WHERE project_id = ${projectId}`
      ),
      endAbandoned: run(sql`DELETE FROM unfinished_uploads WHERE written_at < now() - interval '1 day'`),
      /** The account's that nobody has written for a while, the oldest first. */
      idleOf: many(Unfinished)((accountId: string) =>
        sql`SELECT u.id, u.project_id, u.repository FROM unfinished_uploads u JOIN projects p ON p.id = u.project_id
            WHERE p.account_id = ${accountId} AND u.written_at < now() - interval '15 minutes'
            ORDER BY u.written_at, u.id`
      ),
      allUnfinished: many(Id)(() => sql`SELECT id FROM unfinished_uploads`),
      /** Every blob and manifest that the store keeps for uploads. */
      kept: many(Digest)(() => sql`SELECT digest FROM uploaded_blobs UNION SELECT digest FROM uploaded_manifests`)
    } as const
  })
}) {}
