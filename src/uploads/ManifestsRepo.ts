import { anyRow, many, maybe, one, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { type Place } from "./places.ts"
import { PushedImageRow } from "./PushedImage.ts"

const Stored = Schema.Struct({ digest: Schema.String, mediaType: Schema.String, size: Schema.Number })
export type StoredManifest = typeof Stored.Type

const Sized = Schema.Struct({ digest: Schema.String, size: Schema.Number })
const Digest = Schema.Struct({ digest: Schema.String }).pipe(Schema.pluck("digest"))
const Tag = Schema.Struct({ tag: Schema.String }).pipe(Schema.pluck("tag"))
const Untagged = Schema.Struct({
  accountId: Schema.String,
  projectId: Schema.String,
  name: Schema.String,
  digest: Schema.String
})
export type Untagged = typeof Untagged.Type

/** Manifests and tags of the repositories of projects. */
export class ManifestsRepo extends Effect.Service<ManifestsRepo>()("uploads/ManifestsRepo", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => {
    const at = ({ name, projectId }: Place) => sql`project_id = ${projectId} AND repository = ${name}`
    /** A manifest that no tag and no index names. */
    const unnamed = sql`NOT EXISTS (SELECT FROM uploaded_tags t WHERE t.project_id = m.project_id
        AND t.repository = m.repository AND t.digest = m.digest)
      AND NOT EXISTS (SELECT FROM uploaded_references r WHERE r.project_id = m.project_id
        AND r.repository = m.repository AND r.digest = m.digest)`
    const whole = sql`digest, media_type, size::float8 AS size`
    return {
      byTag: maybe(Stored)((place: Place, tag: string) =>
        sql`SELECT ${whole} FROM uploaded_manifests WHERE ${at(place)} AND digest =
              (SELECT digest FROM uploaded_tags WHERE ${at(place)} AND tag = ${tag})`
      ),
      byDigest: maybe(Stored)((place: Place, digest: string) =>
        sql`SELECT ${whole} FROM uploaded_manifests WHERE ${at(place)} AND digest = ${digest}`
      ),
      blobs: many(Sized)((projectId: string, digests: ReadonlyArray<string>) =>
        sql`SELECT digest, size::float8 AS size FROM uploaded_blobs
            WHERE project_id = ${projectId} AND ${sql.in("digest", digests)}`
      ),
      manifests: many(Sized)((place: Place, digests: ReadonlyArray<string>) =>
        sql`SELECT digest, size::float8 AS size FROM uploaded_manifests
            WHERE ${at(place)} AND ${sql.in("digest", digests)}`
      ),
      put: ({ name, projectId }: Place, manifest: StoredManifest, digests: ReadonlyArray<string>) =>
        run(Effect.gen(function*() {
          yield* sql`INSERT INTO uploaded_manifests ${sql.insert({ projectId, repository: name, ...manifest })}
            ON CONFLICT (project_id, repository, digest) DO UPDATE SET pushed_at = now(), untagged_at = NULL,
              media_type = excluded.media_type`
          const rows = digests.map((digest) => ({ projectId, repository: name, manifest: manifest.digest, digest }))
          if (rows.length > 0) yield* sql`INSERT INTO uploaded_references ${sql.insert(rows)} ON CONFLICT DO NOTHING`
        })),
      /** The tag names this manifest from now on; one that no tag names any more is marked. */
      tag: (place: Place, tag: string, digest: string) =>
        run(Effect.gen(function*() {
          const { name, projectId } = place
          yield* sql`INSERT INTO uploaded_tags ${sql.insert({ projectId, repository: name, tag, digest })}
            ON CONFLICT (project_id, repository, tag) DO UPDATE SET digest = excluded.digest, pushed_at = now()`
        })),
      /** Marks the manifest when nothing names it any more: it goes a day later. */
      mark: (place: Place, digest: string) =>
        run(sql`UPDATE uploaded_manifests m SET untagged_at = now() WHERE ${at(place)} AND digest = ${digest}
          AND ${unnamed}`),
      untag: maybe(Schema.Struct({ digest: Schema.String }))((place: Place, tag: string) =>
        sql`DELETE FROM uploaded_tags WHERE ${at(place)} AND tag = ${tag} RETURNING digest`
      ),
      isUnnamed: (place: Place, digest: string) =>
        anyRow(sql`SELECT 1 FROM uploaded_manifests m WHERE ${at(place)} AND digest = ${digest} AND ${unnamed}`),
      /** The indexes that name a manifest. */
      namedBy: many(Digest)((place: Place, digest: string) =>
        sql`SELECT manifest AS digest FROM uploaded_references WHERE ${at(place)} AND digest = ${digest}`
      ),
      references: many(Digest)((place: Place, digest: string) =>
        sql`SELECT digest FROM uploaded_references WHERE ${at(place)} AND manifest = ${digest}`
      ),
      remove: (place: Place, digest: string) =>
        run(sql`DELETE FROM uploaded_manifests WHERE ${at(place)} AND digest = ${digest}`),
      isKnown: (place: Place) => anyRow(sql`SELECT 1 FROM uploaded_manifests WHERE ${at(place)} LIMIT 1`),
      tags: many(Tag)((place: Place, after: string, count: number) =>
        sql`SELECT tag FROM uploaded_tags WHERE ${at(place)} AND tag COLLATE "C" > ${after}
            ORDER BY tag COLLATE "C" LIMIT ${count}`
      ),
      /** Those whose last tag went to another manifest more than a day ago. */
      untagged: many(Untagged)(() =>
        sql`SELECT p.account_id, m.project_id, m.repository AS name, m.digest
            FROM uploaded_manifests m JOIN projects p ON p.id = m.project_id
            WHERE m.untagged_at < now() - interval '1 day' AND ${unnamed} LIMIT 1000`
      ),
      page: many(PushedImageRow)((projectId: string, after: string | undefined, count: number) =>
        sql`SELECT m.repository, m.digest, m.media_type, m.pushed_at,
              coalesce((SELECT jsonb_agg(t.tag ORDER BY t.tag COLLATE "C") FROM uploaded_tags t
                WHERE t.project_id = m.project_id AND t.repository = m.repository AND t.digest = m.digest), '[]') AS tags,
              (m.size + coalesce((SELECT sum(b.size) FROM uploaded_references r JOIN uploaded_blobs b
                ON b.project_id = r.project_id AND b.digest = r.digest WHERE r.project_id = m.project_id
                  AND r.repository = m.repository AND r.manifest = m.digest), 0))::float8 AS size_bytes
            FROM uploaded_manifests m WHERE m.project_id = ${projectId}
            ${after === undefined ? sql`` : sql`AND (m.repository || '@' || m.digest) COLLATE "C" > ${after}`}
            ORDER BY (m.repository || '@' || m.digest) COLLATE "C" LIMIT ${count}`
      ),
      repositoriesOf: many(Schema.Struct({ repository: Schema.String }).pipe(Schema.pluck("repository")))((
        projectId: string,
        digest: string
      ) => sql`SELECT repository FROM uploaded_manifests WHERE project_id = ${projectId} AND digest = ${digest}`),
      total: one(Schema.Struct({ count: Schema.Int }).pipe(Schema.pluck("count")))((projectId: string) =>
        sql`SELECT count(*)::int AS count FROM uploaded_manifests WHERE project_id = ${projectId}`
      )
    } as const
  })
}) {}
