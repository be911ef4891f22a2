import { Effect } from "effect"
import { createHash } from "node:crypto"
import { once } from "node:events"
import { createServer, type IncomingMessage } from "node:http"
import { buffer } from "node:stream/consumers"

interface Reply {
  readonly status: number
  readonly body?: string | Buffer
}

export interface FakeS3 {
  readonly url: string
  /** By `bucket/key`. */
  readonly objects: Map<string, Buffer>
  /** Method and path of each request, in order. */
  readonly asked: Array<string>
  /** What the next requests are answered with, in place of what they ask for. */
  readonly failures: Array<Reply>
  /** Answers to writes wait for it, once the bytes are stored. */
  held: Promise<void>
  /** Answers stop after their first bytes. */
  stalls: boolean
}

const error = (status: number, code: string): Reply => ({
  status,
  body: `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`
})

export const slowDown = error(503, "SlowDown")
export const accessDenied = error(403, "AccessDenied")

/** What a signature names (AWS Signature Version 4); undefined when a part of it is missing. */
const signed = ({ headers }: IncomingMessage) =>
  headers["x-amz-date"] === undefined
    ? undefined
    : /^AWS4-HMAC-SHA256 Credential=(\w+)\/\d{8}\/([\w-]+)\/s3\/aws4_request, SignedHeaders=\S*host\S*, Signature=[0-9a-f]{64}$/
      .exec(headers.authorization ?? "")

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")

/** Two keys a page: a reader must ask for the next. */
const listing = (objects: FakeS3["objects"], bucket: string, query: URLSearchParams): Reply => {
  const from = query.get("continuation-token") ?? ""
  const keys = [...objects.keys()].sort().filter((name) => name.startsWith(`${bucket}/`))
    .map((name) => name.slice(bucket.length + 1))
    .filter((key) => key.startsWith(query.get("prefix") ?? "") && key > from)
  const page = keys.slice(0, 2)
  const more = keys.length > 2
    ? `<IsTruncated>true</IsTruncated><NextContinuationToken>${escaped(page[1] ?? "")}</NextContinuationToken>`
    : "<IsTruncated>false</IsTruncated>"
  const contents = page.map((key) => `<Contents><Key>${escaped(key)}</Key></Contents>`).join("")
  return { status: 200, body: `<ListBucketResult>${more}${contents}</ListBucketResult>` }
}

const reply = async (request: IncomingMessage, s3: FakeS3): Promise<Reply> => {
  const { asked, failures, objects } = s3
  const { pathname, searchParams } = new URL(request.url ?? "", "http://s3")
  const name = decodeURIComponent(pathname.slice(1))
  asked.push(`${request.method} ${pathname}`)
  const body = await buffer(request)
  const failure = failures.shift()
  if (failure !== undefined) return failure
  const [, id, region] = signed(request) ?? []
  if (id !== "AKIATEST" || region !== "eu-test-1") return error(403, "SignatureDoesNotMatch")
  const hash = request.headers["x-amz-content-sha256"]
  if (hash !== "UNSIGNED-PAYLOAD" && hash !== createHash("sha256").update(body).digest("hex")) {
    return error(400, "XAmzContentSHA256Mismatch")
  }
  const [bucket = "", ...key] = name.split("/")
  if (bucket !== "files") return error(404, "NoSuchBucket")
  if (key.join("/") === "") return listing(objects, bucket, searchParams)
  if (request.method === "PUT") {
    objects.set(name, body)
    await s3.held
    return { status: 200 }
  }
  if (request.method === "DELETE") {
    objects.delete(name)
    return { status: 204 }
  }
  const stored = objects.get(name)
  return stored === undefined ? error(404, "NoSuchKey") : { status: 200, body: stored }
}

/** The settings of a platform that stores in it. */
export const s3Variables = (url: string, at = "files/berth") => ({
  S3_BUCKET: at,
  S3_ENDPOINT: url,
  S3_REGION: "eu-test-1",
  S3_ACCESS_KEY_ID: "AKIATEST",
  S3_SECRET_ACCESS_KEY: "hunter2"
})

/** As much of S3's protocol as one bucket of small objects takes (Amazon S3 API Reference). */
export const fakeS3 = Effect.acquireRelease(
  Effect.promise(async () => {
    const state = {
      objects: new Map<string, Buffer>(),
      asked: [],
      failures: [],
      held: Promise.resolve(),
      stalls: false
    }
    const server = createServer((request, response) => {
      void reply(request, s3).then(({ body = "", status }) => {
        response.writeHead(status, { "content-length": Buffer.byteLength(body), "x-amz-request-id": "1" })
        if (s3.stalls) response.write(body.slice(0, 10))
        else response.end(body)
      })
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const s3: FakeS3 = { ...state, url: `http://127.0.0.1:${port}` }
    return { s3, server }
  }),
  ({ server }) => Effect.sync(() => server.close().closeAllConnections())
).pipe(Effect.map(({ s3 }) => s3))
