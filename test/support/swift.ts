import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3"
import { Effect } from "effect"
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { openSync, readFileSync } from "node:fs"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir, userInfo } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"
import { freePort } from "./http.ts"
import { missingProgram } from "./needs.ts"
import { s3Variables } from "./s3.ts"

const parts = ["account", "container", "object"] as const
const rings = "swift-ring-builder"

const nameless = () => {
  try {
    void userInfo()
    return undefined
  } catch {
    return "this user has no name, and Swift asks for it"
  }
}

/** Why OpenStack Swift, an object store that speaks S3's protocol, can't be started here, or undefined. */
export const missingSwift = [rings, "swift-proxy-server", ...parts.map((part) => `swift-${part}-server`)]
  .map(missingProgram).find((missing) => missing !== undefined) ?? nameless()

export interface Swift {
  readonly url: string
  /** For a look at the bucket `files` that is not the program's. */
  readonly client: S3Client
  readonly stop: () => Promise<void>
  readonly start: () => Promise<void>
}

/** The settings of a platform that stores in it. */
export const swiftVariables = (url: string, at?: string) => ({
  ...s3Variables(url, at),
  S3_ACCESS_KEY_ID: "berth:test"
})

const common = (folder: string, port: number) =>
  `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
user = ${userInfo().username}
swift_dir = ${folder}
devices = ${folder}/devices
mount_check = false
workers = 0
`

// A page of a list has two keys: a reader must ask for the next. Sessions, which need a memcached, are not used.
const proxy = `[pipeline:main]
pipeline = catch_errors cache listing_formats bulk s3api tempauth slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:s3api]
use = egg:swift#s3api
location = eu-test-1
max_bucket_listing = 2
[filter:tempauth]
use = egg:swift#tempauth
user_berth_test = hunter2 .admin
${
  ["catch_errors", "listing_formats", "bulk", "slo", "dlo"].map((name) => `[filter:${name}]\nuse = egg:swift#${name}`)
    .join("\n")
}
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:9
`

/** One copy of everything, on one device that is a folder. */
const makeRing = async (folder: string, part: string, port: number) => {
  const file = join(folder, `${part}.builder`)
  for (
    const command of [["create", "4", "1", "1"], ["add", `r1z1-127.0.0.1:${port}/disk`, "1"], ["rebalance"]]
  ) await promisify(execFile)(rings, [file, ...command])
}

const configure = async (folder: string) => {
  await mkdir(join(folder, "devices", "disk"), { recursive: true })
  const port = await freePort()
  await writeFile(join(folder, "proxy.conf"), `${common(folder, port)}${proxy}`)
  await Promise.all(parts.map(async (part) => {
    const own = await freePort()
    const app = `[pipeline:main]\npipeline = ${part}-server\n[app:${part}-server]\nuse = egg:swift#${part}\n`
    await writeFile(join(folder, `${part}.conf`), `${common(folder, own)}${app}`)
    await makeRing(folder, part, own)
  }))
  return `http://127.0.0.1:${port}`
}

const ended = async (child: ChildProcess) => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, "exit")
  child.kill("SIGKILL")
  await exit
}

const run = async () => {
  const folder = await mkdtemp(join(tmpdir(), "berth-test-swift-"))
  const log = join(folder, "log")
  const url = await configure(folder)
  let running: ReadonlyArray<ChildProcess> = []

  const stop = async () => {
    await Promise.all(running.map(ended))
    running = []
  }
  const start = async () => {
    const out = openSync(log, "a")
    running = [...parts, "proxy"].map((part) =>
      spawn(`swift-${part}-server`, [join(folder, `${part}.conf`), "-v"], { stdio: ["ignore", out, out] })
    )
    // Making a bucket takes all but the objects' server.
    for (let tries = 0; tries < 600; tries++) {
      if (running.some(({ exitCode }) => exitCode !== null)) break
      const isUp = await client.send(new CreateBucketCommand({ Bucket: "files" })).then(() => true, isThere)
      if (isUp) return
      await sleep(100)
    }
    await stop()
    throw new Error(`Swift did not start: ${readFileSync(log, "utf8").slice(-2_000)}`)
  }
  const client = new S3Client({
    endpoint: url,
    forcePathStyle: true,
    region: "eu-test-1",
    credentials: { accessKeyId: "berth:test", secretAccessKey: "hunter2" },
    maxAttempts: 1
  })
  const close = async () => {
    client.destroy()
    await stop()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await start()
  } catch (error) {
    await close()
    throw error
  }
  return { swift: { url, client, stop, start } satisfies Swift, close }
}

const isThere = (error: unknown) => error instanceof Error && error.name === "BucketAlreadyOwnedByYou"

/** A real store with the bucket `files`; it ends with the scope. */
export const swiftServer = Effect.acquireRelease(Effect.promise(run), ({ close }) => Effect.promise(close)).pipe(
  Effect.map(({ swift }) => swift)
)
