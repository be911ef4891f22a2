import { type S3Settings } from "#src/config/Settings.ts"
import { Effect, Option, Predicate, Redacted } from "effect"
import { type BlobStore, isBlobKey, StorageUnavailable } from "./BlobStore.ts"
import { s3Trouble } from "./s3-trouble.ts"
import { storing } from "./storing.ts"

/** Another 404 is of a wrong bucket, or of something that is no S3: the document may be there. */
const isMissing = (error: unknown) => Predicate.hasProperty(error, "name") && error.name === "NoSuchKey"

const silent = (what: string) =>
  Effect.zipRight(Effect.logError(`Stored documents: can't ${what} within 15 seconds`), new StorageUnavailable())

/** The library is loaded only where a bucket is set: it takes a third of a second. */
const connect = (settings: S3Settings) =>
  Effect.promise(async () => {
    const { bucket: Bucket, credentials, endpoint, prefix, region } = settings
    const s3 = await import("@aws-sdk/client-s3")
    const client = new s3.S3Client({
      region,
      ...Option.match(endpoint, { onNone: () => ({}), onSome: (endpoint) => ({ endpoint, forcePathStyle: true }) }),
      ...Option.match(credentials, {
        onNone: () => ({}),
        onSome: ({ id, secret }) => ({
          credentials: { accessKeyId: id, secretAccessKey: Redacted.value(secret) }
        })
      }),
      // Stores other than Amazon's don't all know the newer checksums.
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
      maxAttempts: 3,
      requestHandler: { connectionTimeout: 3_000, requestTimeout: 10_000, throwOnRequestTimeout: true }
    })
    const at = (key: string) => {
      if (!isBlobKey(key)) throw new Error(`${JSON.stringify(key)} is not a key`)
      return { Bucket, Key: `${prefix}${key}` }
    }

    const asking = <A>(what: string, operation: (signal: AbortSignal) => Promise<A>) =>
      storing(what, operation, s3Trouble(settings))

    /** One document, with every retry: the library's own limits don't cover a body that stops coming. */
    const bounded = <A>(what: string, operation: (signal: AbortSignal) => Promise<A>) =>
      asking(what, operation).pipe(
        Effect.timeoutTo({ duration: "15 seconds", onSuccess: Effect.succeed, onTimeout: () => silent(what) }),
        Effect.flatten
      )

    const get = async (key: string, abortSignal: AbortSignal) => {
      try {
        const { Body } = await client.send(new s3.GetObjectCommand(at(key)), { abortSignal })
        return await Body?.transformToByteArray()
      } catch (error) {
        if (isMissing(error)) return undefined
        throw error
      }
    }

    const list = async (abortSignal: AbortSignal) => {
      const keys: Array<string> = []
      for await (
        const { Contents = [] } of s3.paginateListObjectsV2({ client }, { Bucket, Prefix: prefix }, { abortSignal })
      ) keys.push(...Contents.flatMap(({ Key }) => Key === undefined ? [] : [Key.slice(prefix.length)]))
      return keys.filter(isBlobKey).sort()
    }

    const store: typeof BlobStore.Service = {
      put: (key, Body) =>
        bounded(`write to the bucket ${Bucket}`, (abortSignal) =>
          client.send(new s3.PutObjectCommand({ ...at(key), Body, ContentLength: Body.length }), { abortSignal })),
      get: (key) =>
        Effect.map(
          bounded(`read from the bucket ${Bucket}`, (signal) =>
            get(key, signal)),
          Option.fromNullable
        ),
      remove: (key) =>
        bounded(`remove from the bucket ${Bucket}`, (abortSignal) =>
          client.send(new s3.DeleteObjectCommand(at(key)), { abortSignal })),
      list: asking(`list the bucket ${Bucket}`, list),
      // What is put appears whole or not at all.
      tidy: Effect.void,
      check: bounded(
        `use the bucket ${Bucket}`,
        (abortSignal) =>
          client.send(new s3.ListObjectsV2Command({ Bucket, Prefix: prefix, MaxKeys: 1 }), { abortSignal })
      )
    }
    return { client, store }
  })

/** The store in a bucket of S3, or of anything that speaks its protocol. */
export const s3Blobs = (settings: S3Settings) =>
  Effect.map(
    Effect.acquireRelease(connect(settings), ({ client }) => Effect.sync(() => client.destroy())),
    ({ store }) => store
  )
