import { clientLayer } from "#sql/Client.ts"
import { migrate } from "#sql/Migrate.ts"
import { migrations } from "#sql/migrations.ts"
import { type ArchiveWriter, writeArchive } from "#src/operations/backup/archive-writer.ts"
import { Contents, Head, names, partName } from "#src/operations/backup/format.ts"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Redacted, Schema } from "effect"
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { gzipSync } from "node:zlib"
import { emptyDatabaseUrl, freshDatabaseUrl } from "../support/Database.ts"
import { full, long } from "../support/needs.ts"
import { DatabaseProxy } from "../support/proxy.ts"
import { fakeS3, s3Variables } from "../support/s3.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { runSql } from "../support/sql.ts"
import {
  backupFile,
  bringBack,
  contentsOf,
  save,
  schemaOf,
  type Site,
  site,
  storeOf,
  tablesOf
} from "./support/backup.ts"

const odd = [
  "",
  "\\",
  "\\N",
  "a\tb\nc\rd",
  "\\.",
  "'\"`;--",
  "Crème 💡 \u{10ffff}",
  "\u0001\u001b[2J",
  "NULL",
  "{a,\"b\"}"
]

/** An account with what is hard to carry: odd text, every kind of column, rows that refer to each other in a circle. */
const fill = async (databaseUrl: string) => {
  const ask = (text: string, ...values: ReadonlyArray<unknown>) => runSql(databaseUrl, text, values)
  await ask(
    "INSERT INTO users (id, email, password_hash, created_at) VALUES ('u', 'u@example.com', '', '2020-01-01 00:00:00.123456+14')"
  )
  await ask(
    "INSERT INTO login_attempts (bucket, attempted_at) SELECT decode('00ff5c', 'hex'), now() FROM generate_series(1, 7)"
  )
  await ask("INSERT INTO projects (id, account_id, name, slug) VALUES ('p', 'u', 'P', 'p')")
  await ask("INSERT INTO slugs (slug, account_id) VALUES ('s', 'u')")
  await ask(
    `INSERT INTO servers (id, project_id, name, slug, region, cpu, memory_mb, health_path, health_timeout_seconds,
      rollback_on_health_check_failure, deployment_retention_count, replay_token, allowed_emails)
    VALUES ('srv', 'p', 'S', 's', 'ord', 'shared-1x', 256, '/', 30, true, 10, 't', $1)`,
    odd
  )
  await ask(`INSERT INTO deployments (id, server_id, version, type, status, stage, image_uri, scan_result)
    VALUES ('dep', 'srv', 1, 'deploy', 'running', 'retired', 'x', '{"critical": 1, "high": 2, "medium": 3}'),
      ('dep2', 'srv', 2, 'deploy', 'building', 'checking', 'x', NULL)`)
  await ask("UPDATE servers SET active_deployment_id = 'dep'")
  await ask("INSERT INTO machine_metering VALUES ('dep', 'srv', '2026-01-01 00:00:00.123456+14')")
  for (const [n, text] of odd.entries()) {
    await ask("INSERT INTO server_logs VALUES ($1, 'srv', 'info', $2, now())", `log_${n}`, text)
    await ask(
      `INSERT INTO businesses (id, project_id, name, slug, industry, template_type, custom_fields, latitude, longitude)
        VALUES ($1, 'p', $2, $1, 'bakery', 'retail', $3, 0.1 + 0.2, 1e-300)`,
      `b${n}`,
      `Crumb ${text}`,
      JSON.stringify({ [text]: text })
    )
    await ask(
      `INSERT INTO listings (id, business_id, name, description, business_name, business_slug, industry, template_type, city,
          state, tier, verification_tier, status, categories)
        VALUES ($1, $2, $3, $4, 'B', 'b', 'bakery', 'retail', 'Suva', 'Fiji', 'basic', 0, 'active', $5)`,
      `l${n}`,
      `b${n}`,
      `Crumb Hall ${n}`,
      text,
      [text, "Bread"]
    )
  }
  await ask("INSERT INTO usage (account_id, period, request_count) VALUES ('u', '2026-01-01', 9007199254740993)")
  await ask("INSERT INTO secret_keys (key_id) VALUES ('0badcafe')")
}

const filled = Effect.gen(function*() {
  const made = site(yield* freshDatabaseUrl)
  yield* Effect.promise(() => fill(made.databaseUrl))
  return made
})
const nowhere = Effect.map(emptyDatabaseUrl, site)
const refusal = <A, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ message }) => message)

describe("a backup", () => {
  it.scopedLive(
    "brings back every row to the letter, the keys between them, and where numbers go on",
    () =>
      Effect.gen(function*() {
        const from = yield* filled
        const to = yield* nowhere
        const file = backupFile()
        const told: Array<string> = []
        const saved = yield* save(from, file, { tell: (message) => told.push(message) })
        assert.include(told, "users: 1 rows")
        assert.deepStrictEqual(saved.keyIds, ["0badcafe"])
        assert.strictEqual(statSync(file).mode & 0o777, 0o600)
        const restored = yield* bringBack(to, file)
        assert.strictEqual(restored.rows, saved.rows)
        const [before, after] = yield* Effect.promise(() => Promise.all([contentsOf(from), contentsOf(to)]))
        // What was in the middle of something begins anew.
        const deployments = (
          contents: Record<string, unknown>
        ) => (contents["deployments"] as ReadonlyArray<{ id: string; status: string; stage: string }>)
        assert.includeDeepMembers(
          deployments(after).map(({ id, stage, status }) => ({ id, stage, status })),
          [{ id: "dep2", stage: "pending", status: "pending" }, { id: "dep", stage: "retired", status: "running" }]
        )
        assert.deepStrictEqual({ ...after, deployments: [] }, { ...before, deployments: [] })
        const [schema, restoredSchema] = yield* Effect.promise(() => Promise.all([schemaOf(from), schemaOf(to)]))
        assert.deepStrictEqual(restoredSchema, schema)
        const [next] = yield* Effect.promise(() =>
          runSql(to.databaseUrl, "INSERT INTO login_attempts (bucket, attempted_at) VALUES ('', now()) RETURNING id")
        )
        assert.strictEqual(next?.["id"], "8")
      }),
    60_000
  )

  it.scopedLive.skipIf(!full)(long("is of one moment, whatever is written meanwhile"), () =>
    Effect.gen(function*() {
      const from = yield* filled
      const to = yield* nowhere
      const file = backupFile()
      const before = yield* Effect.promise(() => contentsOf(from))
      const writing: Array<Promise<unknown>> = []
      yield* save(from, file, {
        tell: () =>
          writing.push(runSql(from.databaseUrl, "UPDATE servers SET name = name || '!'; DELETE FROM server_logs"))
      })
      yield* Effect.promise(() => Promise.all(writing))
      yield* bringBack(to, file)
      const after = yield* Effect.promise(() => contentsOf(to))
      assert.deepStrictEqual({ ...after, deployments: [] }, { ...before, deployments: [] })
    }), 60_000)

  it.scopedLive.skipIf(!full)(long("of an older schema is brought to this one"), () =>
    Effect.gen(function*() {
      const from = site(yield* emptyDatabaseUrl)
      const before = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < "0009"))
      yield* Effect.provide(migrate(before), clientLayer(Redacted.make(from.databaseUrl), 3))
      yield* Effect.promise(() =>
        runSql(from.databaseUrl, "INSERT INTO users (id, email, password_hash) VALUES ('u', 'u@example.com', '')")
      )
      const to = yield* nowhere
      const file = backupFile()
      assert.deepStrictEqual((yield* save(from, file)).keyIds, [])
      yield* bringBack(to, file)
      const { berth_migrations: names, users } = yield* Effect.promise(() => contentsOf(to))
      assert.include(names as ReadonlyArray<string>, "hosts_and_secret_keys")
      assert.lengthOf(users as ReadonlyArray<unknown>, 1)
    }), 60_000)

  it.scopedLive.skipIf(!full)(
    long("that is damaged or cut off anywhere is refused before anything is written"),
    () =>
      Effect.gen(function*() {
        const from = yield* filled
        const to = yield* nowhere
        const file = backupFile()
        yield* save(from, file)
        const good = readFileSync(file)
        const bad = join(dirname(file), "bad.tar.gz")
        const refused = (bytes: Buffer) =>
          Effect.zipRight(Effect.sync(() => writeFileSync(bad, bytes)), refusal(bringBack(to, bad)))
        for (let i = 0; i < 12; i++) {
          assert.match(
            yield* refused(good.subarray(0, Math.floor(good.length * i / 12))),
            /bad\.tar\.gz is damaged or cut off/
          )
          const flipped = Buffer.from(good)
          flipped[Math.floor(good.length * (i + 0.5) / 12)]! ^= 0x10
          assert.match(yield* refused(flipped), /bad\.tar\.gz is (damaged or cut off|not a backup of berth)/)
        }
        assert.match(yield* refused(Buffer.from("PK nothing of ours")), /damaged or cut off/)
        assert.match(yield* refused(gzipSync(Buffer.alloc(2048))), /damaged or cut off/)
        assert.strictEqual(yield* refusal(bringBack(to, "/nowhere/b.tar.gz")), "There is no /nowhere/b.tar.gz")
        assert.lengthOf(yield* Effect.promise(() => tablesOf(to)), 0)
      }),
    60_000
  )
})

/** A backup as another hand could write it. */
const written = (
  file: string,
  head: Partial<typeof Head.Type>,
  rows: string,
  { count = 1, table = "users" } = {},
  more: (archive: ArchiveWriter) => Promise<void> = () => Promise.resolve()
) =>
  Effect.promise(() =>
    writeArchive(file, async (archive) => {
      const tables = [{ name: table, columns: ["id", "email", "password_hash"] }]
      const usual = { format: 1, program: "0", migration: 9, createdAt: "", keyIds: [], tables }
      await archive.add(names.head, Schema.encodeSync(Head)({ ...usual, ...head }))
      await archive.add(partName(table, 1), rows)
      await more(archive)
      const sum = { bytes: Buffer.byteLength(rows), sha256: createHash("sha256").update(rows).digest("hex") }
      const contents = { tables: { [table]: { rows: count, ...sum } }, sequences: [], images: {}, blobs: {} }
      await archive.add(names.contents, Schema.encodeSync(Contents)(contents))
    })
  )

describe("the documents of a backup", () => {
  const ids = ["01J0000000000000000000000A", "01J0000000000000000000000B"]
  const keys = ids.map((id) => `capability-docs/${id}`)
  const bytesOf = (key: string) => Buffer.from([0, 255, ...Buffer.from(key)])

  /** A site with two stored files, of which the rows know the first. */
  const stored = Effect.gen(function*() {
    const from = yield* filled
    yield* Effect.promise(() => runSql(from.databaseUrl, "INSERT INTO capability_blobs (key) VALUES ($1)", [keys[0]]))
    const { put } = yield* storeOf(from)
    yield* Effect.forEach(keys, (key) => put(key, bytesOf(key)))
    return from
  })
  const filesOf = (site: Site) =>
    Effect.gen(function*() {
      const { get, list } = yield* storeOf(site)
      const found = yield* Effect.forEach(yield* list, (key) => Effect.map(get(key), Option.getOrThrow))
      return found.map((bytes) => Buffer.from(bytes))
    })
  const known = (site: Site) =>
    Effect.promise(() => runSql(site.databaseUrl, "SELECT key FROM capability_blobs ORDER BY key"))

  it.scopedLive("come back with its rows, also into another kind of store", () =>
    Effect.gen(function*() {
      const from = yield* stored
      const file = backupFile()
      const told: Array<string> = []
      yield* save(from, file, { tell: (message) => told.push(message) })
      assert.include(told, "Documents: 2 files")
      const { url } = yield* fakeS3
      for (const to of [yield* nowhere, { ...yield* nowhere, variables: s3Variables(url) }]) {
        yield* bringBack(to, file)
        assert.deepStrictEqual(yield* filesOf(to), keys.map(bytesOf))
        // Also one that came after the rows: it is removed when nothing names it for an hour.
        assert.deepStrictEqual(yield* known(to), keys.map((key) => ({ key })))
      }
    }), 60_000)

  it.scopedLive("that were changed in it are refused before anything is written", () =>
    Effect.gen(function*() {
      const to = yield* nowhere
      const file = backupFile()
      yield* written(file, {}, "u\tu@example.com\tx\n", {}, (archive) => archive.add(`blobs/${keys[0]}`, "x"))
      assert.match(yield* refusal(bringBack(to, file)), /damaged or cut off: capability-docs\/\w+ is not in its list/)
      yield* written(file, {}, "u\tu@example.com\tx\n", {}, (archive) => archive.add("blobs/../x", "x"))
      assert.match(yield* refusal(bringBack(to, file)), /damaged or cut off: "blobs\/\.\.\/x" is not known/)
      assert.deepStrictEqual(yield* filesOf(to), [])
    }), 60_000)

  it.scopedLive("that can't be read leave no backup", () =>
    Effect.gen(function*() {
      const from = { ...yield* filled, variables: s3Variables("http://127.0.0.1:9") }
      const file = backupFile()
      assert.match(yield* refusal(save(from, file)), /^The backup failed, and no file was left: .*can't be reached/)
      assert.isFalse(existsSync(file))
    }), 60_000)
})

describe("a restore", () => {
  it.scopedLive.skipIf(!full)(
    long("is refused where there is data, and where somebody serves"),
    () =>
      Effect.gen(function*() {
        const from = yield* filled
        const file = backupFile()
        yield* save(from, file)
        assert.match(
          yield* refusal(bringBack(from, file)),
          /^The database has data already \(in \w+, for one\): a backup is restored into an empty one, which DATABASE_URL/
        )
        const used = site(yield* freshDatabaseUrl)
        yield* Effect.promise(() =>
          runSql(
            used.databaseUrl,
            "INSERT INTO hosts VALUES ('host_1', 's', 'web-1', 42, '1', 'b', 'n', '{}', now(), now() + interval '1 minute')"
          )
        )
        assert.strictEqual(
          yield* refusal(bringBack(used, file)),
          "Another berth serves this database: host_1 on web-1 (process 42); stop it first"
        )
        // One that was made and never used is as good as none.
        yield* Effect.promise(() => runSql(used.databaseUrl, "DELETE FROM hosts"))
        yield* bringBack(used, file)
      }),
    60_000
  )

  it.scopedLive.skipIf(!full)(
    long("of what this version can't know is refused, and says so"),
    () =>
      Effect.gen(function*() {
        const to = yield* nowhere
        const file = backupFile()
        const row = "u\tu@example.com\tx\n"
        yield* written(file, { migration: 9999 }, row)
        assert.match(
          yield* refusal(bringBack(to, file)),
          /of a newer version of berth \(migration 9999\) than this one/
        )
        yield* written(file, { format: 3 }, row)
        assert.match(
          yield* refusal(bringBack(to, file)),
          /has a newer format \(3\) than this version of berth reads \(2\)/
        )
        yield* written(file, { tables: [{ name: "users", columns: ["id", "shoe_size"] }] }, row)
        assert.match(
          yield* refusal(bringBack(to, file)),
          /has users\.shoe_size, which this version of berth does not know/
        )
        yield* written(file, {}, row, {}, (archive) => archive.add("../../etc/passwd", "x"))
        assert.match(yield* refusal(bringBack(to, file)), /damaged or cut off: "\.\.\/\.\.\/etc\/passwd" is not known/)
        assert.lengthOf(yield* Effect.promise(() => tablesOf(to)), 0)
      }),
    60_000
  )

  it.scopedLive.skipIf(!full)(
    long("that breaks off in the middle leaves nothing, and can be done again"),
    () =>
      Effect.gen(function*() {
        const to = yield* nowhere
        const file = backupFile()
        const row = "u\tu@example.com\tx\n"
        yield* written(file, {}, `${row}half a row`)
        assert.match(yield* refusal(bringBack(to, file)), /missing data for column/)
        yield* written(file, {}, row, { count: 2 })
        assert.match(yield* refusal(bringBack(to, file)), /says that users has 2 rows, but 1 arrived/)
        yield* written(file, {}, `${row}${row}`, { count: 2 })
        assert.match(yield* refusal(bringBack(to, file)), /duplicate key value/)
        assert.lengthOf(yield* Effect.promise(() => tablesOf(to)), 0)
        yield* written(file, {}, row)
        yield* bringBack(to, file)
        assert.lengthOf(yield* Effect.promise(() => runSql(to.databaseUrl, "SELECT FROM users")), 1)
      }),
    60_000
  )

  it.scopedLive.skipIf(!full)(
    long("of rows that refer to nothing is refused: every foreign key is checked"),
    () =>
      Effect.gen(function*() {
        const to = yield* nowhere
        const file = backupFile()
        const columns = ["id", "account_id", "name", "slug"]
        yield* written(file, { tables: [{ name: "projects", columns }] }, "p\tnobody\tP\tp\n", { table: "projects" })
        assert.match(yield* refusal(bringBack(to, file)), /violates foreign key constraint "projects_account_id_fkey"/)
        assert.lengthOf(yield* Effect.promise(() => tablesOf(to)), 0)
      }),
    60_000
  )
})

describe("the file of a backup", () => {
  it.scopedLive.skipIf(!full)(
    long("is replaced when the next one is whole, and never by half of one"),
    () =>
      Effect.gen(function*() {
        const from = yield* filled
        const file = backupFile()
        const folder = dirname(file)
        yield* save(from, file)
        const first = readFileSync(file)
        const proxy = new DatabaseProxy()
        const databaseUrl = yield* Effect.promise(() => proxy.through(from.databaseUrl))
        const cut = save({ ...from, databaseUrl }, file, { tell: () => void proxy.cut() })
        assert.match(yield* refusal(cut), /^The backup failed, and no file was left: /)
        assert.isTrue(first.equals(readFileSync(file)))
        // A killed one leaves its part; the next to this file takes it away, and leaves those that are at work.
        const dead = spawnSync("true").pid
        for (const pid of [dead, process.ppid]) writeFileSync(`${file}.${pid}-0a1b.part`, "half")
        yield* save(from, file)
        assert.isFalse(first.equals(readFileSync(file)))
        assert.deepStrictEqual(readdirSync(folder).sort(), [
          "b.berth.tar.gz",
          `b.berth.tar.gz.${process.ppid}-0a1b.part`
        ])
      }),
    60_000
  )

  it.scopedLive.skipIf(!full)(long("that can't be written is told in a sentence"), () =>
    Effect.gen(function*() {
      const from = yield* filled
      const folder = temporaryDirectory("backup")
      mkdirSync(join(folder, "taken"))
      assert.match(
        yield* refusal(save(from, join(folder, "taken"))),
        /^The backup can't be written: .*taken is a folder$/
      )
      assert.match(
        yield* refusal(save(from, join(folder, "no/b"))),
        /^The backup can't be written: the folder of .* is not there$/
      )
      assert.isFalse(existsSync(join(folder, "no")))
    }), 60_000)

  it.scopedLive("is not made of a database that is none of ours", () =>
    Effect.gen(function*() {
      const file = backupFile()
      assert.match(
        yield* refusal(save(yield* nowhere, file)),
        /never been used by berth, so there is nothing to back up/
      )
      assert.isFalse(existsSync(file))
    }), 60_000)
})
