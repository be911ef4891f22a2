import { AccountId, CurrentActor } from "#src/accounts/CurrentActor.ts"
import { BlobStore } from "#src/blobs/BlobStore.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { documentOf } from "#src/hub/CapabilityDoc.ts"
import { CapabilityDocs } from "#src/hub/CapabilityDocs.ts"
import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { mkdir, readdir, rm, utimes, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { services } from "../deployments/support/services.ts"
import { DatabaseTest } from "../support/Database.ts"
import { describeWhen } from "../support/needs.ts"
import { settingsTest } from "../support/Settings.ts"
import { missingSwift, swiftServer, swiftVariables } from "../support/swift.ts"

const listingId = "01J0000000000000000000000A"

const listed = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO users (id, email, password_hash) VALUES ('u', 'u@example.com', '') ON CONFLICT DO NOTHING`
  yield* sql`INSERT INTO projects (id, account_id, name, slug) VALUES ('p', 'u', 'P', 'p')`
  yield* sql`INSERT INTO businesses (id, project_id, name, slug, industry, template_type)
    VALUES ('b', 'p', 'B', 'b', 'custom', 'custom')`
  yield* sql`INSERT INTO listings (id, business_id, name, description, business_name, business_slug, industry,
      template_type, city, state, tier, verification_tier, status)
    VALUES (${listingId}, 'b', 'B', '', 'B', 'b', 'custom', 'custom', '', '', 'basic', 0, 'active')`
})

const upload = (name: string) =>
  Effect.flatMap(
    CapabilityDocs,
    (documents) => documents.upload(listingId, Effect.succeed(documentOf("skill_md", Buffer.from(`# ${name}\n`))))
  ).pipe(Effect.provideService(CurrentActor, {
    accountId: AccountId.make("u"),
    email: "u@example.com",
    plan: "free",
    credential: { kind: "session", id: "s", expiresAt: new Date() }
  }))

const content = Effect.gen(function*() {
  const { bytes } = yield* (yield* CapabilityDocs).content(listingId)
  return Buffer.from(yield* bytes).toString()
})
const stored = Effect.flatMap(BlobStore, ({ list }) => list)
const sweep = Effect.flatMap(CapabilityDocs, (documents) => documents.sweep)
/** As if so much time had gone by. */
const later = (minutes: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`UPDATE capability_blobs SET orphaned_at = orphaned_at - make_interval(mins => ${minutes})`
  )
const known = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT key FROM capability_blobs`)

layer(services(DatabaseTest, settingsTest()), { excludeTestServices: true, timeout: 60_000 })((it) => {
  it.effect("bytes that no document names are removed an hour later; those that one names stay", () =>
    Effect.gen(function*() {
      yield* listed
      yield* upload("First")
      yield* sweep
      yield* later(600)
      yield* upload("Second")
      yield* sweep
      assert.lengthOf(yield* stored, 2, "a backup may be on its way with the first")
      yield* later(59)
      yield* sweep
      assert.lengthOf(yield* stored, 2)
      yield* later(2)
      yield* sweep
      assert.lengthOf(yield* stored, 1)
      assert.strictEqual(yield* content, "# Second\n")
    }))

  it.effect("what a crash left of a write is removed an hour later, and one under way is kept", () =>
    Effect.gen(function*() {
      const { home } = yield* CurrentSettings
      const folder = join(home, "blobs", "capability-docs")
      const old = new Date(Date.now() - 3_700_000)
      yield* Effect.promise(async () => {
        await mkdir(folder, { recursive: true })
        for (const name of [".old.part", ".new.part"]) await writeFile(join(folder, name), "half")
        await utimes(join(folder, ".old.part"), old, old)
      })
      yield* sweep
      const left = yield* Effect.promise(() => readdir(folder))
      assert.deepStrictEqual(left.filter((name) => name.endsWith(".part")), [".new.part"])
      yield* Effect.promise(() => rm(join(folder, ".new.part")))
    }))

  it.effect("bytes of an upload that ended before it was whole are removed; one that took long is kept", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const blobs = yield* BlobStore
      for (const key of ["capability-docs/cut-off", "capability-docs/slow"]) {
        yield* sql`INSERT INTO capability_blobs (key) VALUES (${key})`
        yield* blobs.put(key, Buffer.from("x"))
      }
      // Known, and nothing stored: it ended even before that.
      yield* sql`INSERT INTO capability_blobs (key) VALUES ('capability-docs/early')`
      yield* sweep
      yield* later(61)
      yield* sql`UPDATE capability_documents SET blob_key = 'capability-docs/slow'`
      yield* sweep
      assert.include(yield* stored, "capability-docs/slow")
      assert.notInclude(yield* stored, "capability-docs/cut-off")
      assert.lengthOf(yield* known, 2, "the slow one, and that of the document before, for an hour")
      yield* upload("Third")
      yield* sweep
      assert.include(yield* stored, "capability-docs/slow", "the hour begins when the last document lets go of it")
    }))

  it.effect("with a business, or its account, go its document and the bytes", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      for (const from of ["projects", "businesses", "listings", "users"]) {
        yield* sql`DELETE FROM projects`
        yield* listed
        yield* upload("Gone")
        yield* sql`DELETE FROM ${sql(from)}`
        assert.strictEqual((yield* Effect.flip(content))._tag, "DocumentNotFound")
      }
      yield* sweep
      yield* later(61)
      yield* sweep
      assert.deepStrictEqual([yield* stored, yield* known], [[], []])
    }))
})

describeWhen(missingSwift, "in OpenStack Swift", () => {
  const inSwift = Effect.map(swiftServer, ({ url }) => services(DatabaseTest, settingsTest(swiftVariables(url))))
  layer(Layer.unwrapScoped(inSwift), { excludeTestServices: true, timeout: 120_000 })((it) => {
    it.effect("what no document has named for an hour is removed, page by page, and what is gone holds up nothing", () =>
      Effect.gen(function*() {
        const blobs = yield* BlobStore
        yield* listed
        yield* blobs.put("capability-docs/of-another-installation", Buffer.from("x"))
        for (const name of ["First", "Second", "Third", "Fourth"]) yield* upload(name)
        yield* sweep
        const [gone = ""] = yield* stored
        yield* blobs.remove(gone)
        yield* later(61)
        yield* sweep
        assert.lengthOf(yield* stored, 2)
        assert.include(yield* stored, "capability-docs/of-another-installation")
        assert.lengthOf(yield* known, 1)
        assert.strictEqual(yield* content, "# Fourth\n")
      }))
  })
})
