import { clientLayer } from "#sql/Client.ts"
import { embedded } from "#sql/Embedded.ts"
import { MigrationsLive } from "#sql/Migrate.ts"
import { Effect, Exit, Layer, Logger, LogLevel, Redacted, Scope } from "effect"
import { createHash, randomUUID } from "node:crypto"
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, statSync } from "node:fs"
import { freemem, tmpdir } from "node:os"
import { join } from "node:path"
import { type TestProject } from "vitest/node"
import { imageThreadBundles, readThreadBundle } from "../ready-server/bundle.ts"
import { administer, type TestServer, urlOf } from "./test-database.ts"

/** Nothing here outlives a crash of the machine, so nothing waits for the disk. */
const settings = { fsync: "off", synchronous_commit: "off", full_page_writes: "off", max_connections: "300" }

/** Ext4 gives no inode anew within a minute of its file's end: files take it ten times as long once many were removed. */
const memory = "/dev/shm"
const prefix = "berth-"
/** Bytes that databases take at most, and all files of a run. */
const [databasesTake, filesTake] = [2 ** 31, 2 ** 33]

const hasRoom = (bytes: number) => {
  try {
    const { bavail, bsize } = statfsSync(memory)
    return Math.min(bavail * bsize, freemem()) > 2 * bytes
  } catch {
    return false
  }
}

/** What killed runs left behind, a day later: a longer run than that there is not. */
const removeOld = () => {
  for (const name of readdirSync(memory).filter((one) => one.startsWith(prefix))) {
    const path = join(memory, name)
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (age > 24 * 3_600_000) rmSync(path, { recursive: true, force: true })
  }
}

/** In memory, for as long as the run takes: each test's database has 900 files. */
const inMemory = Effect.gen(function*() {
  const home = join(memory, `${prefix}${randomUUID()}`)
  yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(home, { recursive: true, force: true, maxRetries: 3 })))
  removeOld()
  return yield* embedded(home, { exclusive: false, settings })
})

/** On disk, and kept between runs. */
const onDisk = Effect.suspend(() => {
  const home = join(process.cwd(), "node_modules/.cache/berth-test")
  const started = embedded(home, { exclusive: false, settings })
  // A database without fsync may not survive a power cut; it is only a cache.
  return Effect.catchAll(started, () => {
    rmSync(home, { recursive: true, force: true })
    return started
  })
})

const ownServer = Effect.suspend(() => hasRoom(databasesTake) ? inMemory : onDisk).pipe(
  Effect.map(({ host, port, user }) =>
    `postgres://${user}@localhost/postgres?host=${encodeURIComponent(host)}&port=${port}`
  )
)

const given = process.env["TEST_DATABASE_URL"]

/** Another template when any migration has changed: several runs may share a server. */
const templateName = () => {
  const hash = createHash("sha256")
  const files = readdirSync("sql/migrations").sort().map((name) => join("sql/migrations", name))
  for (const file of ["sql/migrations.ts", ...files]) {
    hash.update(file).update(readFileSync(file))
  }
  return `template_${hash.digest("hex").slice(0, 16)}`
}

/** Made under another name and renamed: whoever finds the template finds it whole. */
const makeTemplate = Effect.fnUntraced(function*(url: string, template: string) {
  const half = `${template}_${process.pid}`
  yield* administer(url, `CREATE DATABASE ${half}`)
  yield* Effect.scoped(Layer.build(Layer.provide(MigrationsLive, clientLayer(Redacted.make(urlOf(url, half)), 1))))
  yield* administer(url, `ALTER DATABASE ${half} RENAME TO ${template}`).pipe(
    Effect.catchAllCause(() => administer(url, `DROP DATABASE ${half}`))
  )
})

const exists = (url: string, name: string) =>
  Effect.map(administer(url, `SELECT 1 FROM pg_database WHERE datname = '${name}'`), ([rows]) => rows!.length > 0)

/** What killed runs left behind, a day later: a longer run than that there is not. */
const dropOld = Effect.fnUntraced(function*(url: string) {
  const [rows] = yield* administer(
    url,
    `SELECT datname AS name FROM pg_database WHERE datname ~ '^(test|template)_[0-9a-f_]+$'
      AND (pg_stat_file('base/' || oid || '/PG_VERSION')).modification < now() - interval '1 day'`
  )
  yield* administer(url, ...rows!.map(({ name }) => `DROP DATABASE IF EXISTS ${String(name)} WITH (FORCE)`))
}, Effect.catchAllCause(() => Effect.void))

const start = Effect.gen(function*() {
  const url = given ?? (yield* ownServer)
  yield* dropOld(url)
  const template = templateName()
  if (!(yield* exists(url, template))) yield* makeTemplate(url, template)
  return { url, template } satisfies TestServer
}).pipe(Logger.withMinimumLogLevel(LogLevel.Warning))

/** Whatever a run writes is below one directory, which goes with it; other users' platforms write there, too. */
const temporaryFiles = Effect.acquireRelease(
  Effect.sync(() => {
    const directory = mkdtempSync(join(hasRoom(filesTake) ? memory : tmpdir(), prefix))
    chmodSync(directory, 0o1777)
    process.env["TMPDIR"] = directory
    return directory
  }),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }))
)

/** One server for the whole run: `TEST_DATABASE_URL`, or an embedded one that is kept between runs. */
export default async (project: TestProject) => {
  await readThreadBundle()
  await imageThreadBundles()
  const scope = Effect.runSync(Scope.make())
  const prepared = Effect.zipRight(temporaryFiles, start)
  project.provide("testServer", await Effect.runPromise(Scope.extend(prepared, scope)))
  return () => Effect.runPromise(Scope.close(scope, Exit.void))
}
