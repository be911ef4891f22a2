const batch = 1_000

/**
 * For a restore, while the tables have no constraints: stored bytes that came after the rows of the backup are known, so
 * that they are removed some time. Keys have neither quotes nor backslashes (src/blobs/BlobStore.ts).
 */
export const adoptBlobs = (keys: ReadonlyArray<string>): ReadonlyArray<string> =>
  Array.from({ length: Math.ceil(keys.length / batch) }, (_, at) => {
    const listed = keys.slice(at * batch, (at + 1) * batch).map((key) => `('${key}')`).join(", ")
    return `INSERT INTO capability_blobs (key) SELECT k FROM (VALUES ${listed}) AS stored (k)
            WHERE NOT EXISTS (SELECT FROM capability_blobs WHERE key = k)`
  })
