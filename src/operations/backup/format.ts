import { isBlobKey } from "#src/blobs/BlobStore.ts"
import { Data, Schema } from "effect"

/** A backup can't be made or restored. The message is one sentence for the operator. */
export class BackupError extends Data.TaggedError("BackupError")<{ readonly message: string }> {}

/**
 * A gzipped tar (docs/decisions/backup-format.md): the head, the rows of each table in parts, stored files, images, and
 * at the end the checksums of all of it. A file without that end is truncated. Format 1 had no stored files.
 */
export const format = 2
export const names = { head: "berth-backup.json", contents: "contents.json", imageIndex: "images/index.json" } as const

export const partName = (table: string, number: number) => `tables/${table}/${String(number).padStart(6, "0")}`
export const tableOf = (name: string) => /^tables\/([^/]+)\/\d+$/.exec(name)?.[1]
export const imageName = (digest: string) => `images/${digest.replace("sha256:", "")}`
export const imageOf = (name: string) => {
  const hex = /^images\/([0-9a-f]{64})$/.exec(name)?.[1]
  return hex === undefined ? undefined : `sha256:${hex}`
}
export const blobName = (key: string) => `blobs/${key}`
export const blobOf = (name: string) => {
  const key = name.startsWith("blobs/") ? name.slice("blobs/".length) : ""
  return isBlobKey(key) ? key : undefined
}

const Table = Schema.Struct({ name: Schema.String, columns: Schema.Array(Schema.String) })

export const Head = Schema.parseJson(Schema.Struct({
  format: Schema.Int,
  /** Version of the program that made it. */
  program: Schema.String,
  migration: Schema.Int,
  createdAt: Schema.String,
  /** Ids of the secret keys that are needed to open its secrets. */
  keyIds: Schema.Array(Schema.String),
  tables: Schema.Array(Table)
}))
export type Head = typeof Head.Type

const Checksum = Schema.Struct({ bytes: Schema.Int, sha256: Schema.String })

export const Contents = Schema.parseJson(Schema.Struct({
  tables: Schema.Record({ key: Schema.String, value: Schema.Struct({ rows: Schema.Int, ...Checksum.fields }) }),
  sequences: Schema.Array(Schema.Struct({ name: Schema.String, value: Schema.NullOr(Schema.String) })),
  /** By digest. */
  images: Schema.Record({ key: Schema.String, value: Schema.Int }),
  /** By key. */
  blobs: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Checksum }), {
    exact: true,
    default: () => ({})
  })
}))
export type Contents = typeof Contents.Type
