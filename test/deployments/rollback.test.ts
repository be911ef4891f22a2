import { Deployments } from "#src/deployments/Deployments.ts"
import { Retention } from "#src/deployments/Retention.ts"
import { Images } from "#src/images/Images.ts"
import { Machines } from "#src/machines/Machines.ts"
import { Servers } from "#src/servers/Servers.ts"
import { SqlClient } from "@effect/sql"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { rmSync } from "node:fs"
import { appImage, type Behaviour } from "./support/app-image.ts"
import { getFrom } from "./support/http.ts"
import { longPlatformSuite, makeServer } from "./support/platform.ts"
import { until } from "./support/wait.ts"

const setUp = (retention = 10) =>
  Effect.gen(function*() {
    const deployments = yield* Deployments
    const servers = yield* Servers
    const { as, server } = yield* makeServer({ healthTimeoutSeconds: 1 })
    yield* as(servers.update(server.id, { deploymentRetentionCount: retention }))
    const deployImage = (imageUri: string) =>
      as(Effect.flatMap(deployments.deploy(server.id, { imageUri }), ({ id }) => deployments.settled(id)))
    return {
      deployments,
      servers,
      as,
      server,
      deployImage,
      deploy: (behaviour: Behaviour, note = "") => Effect.flatMap(appImage(behaviour, { note }), deployImage),
      rollback: (version: number) =>
        as(Effect.flatMap(deployments.rollback(server.id, { version }), ({ id }) => deployments.settled(id))),
      all: Effect.map(as(deployments.list(server.id, { limit: 100 })), ({ data }) => data),
      status: Effect.map(as(servers.get(server.id)), ({ status }) => status),
      machines: Effect.flatMap(Machines, (machines) => machines.list(server.id))
    }
  })

/** What is replaced goes at once: how it drains, other tests prove. */
const variables = { DRAIN_SECONDS: "0" }

longPlatformSuite("going back", (it) => {
  it.effect(
    "runs a version's stored image again, as a new version, and tells the one it replaced",
    () =>
      Effect.gen(function*() {
        const { all, deployImage, machines, rollback } = yield* setUp()
        const imageUri = yield* appImage("healthy", { note: "one" })
        const one = yield* deployImage(imageUri)
        yield* Effect.flatMap(appImage("healthy", { note: "two" }), deployImage)
        // Nothing is pulled: the image's source is gone.
        rmSync(imageUri.slice("oci:".length), { recursive: true })
        const back = yield* rollback(1)
        assert.deepInclude(back, {
          version: 3,
          type: "rollback",
          status: "running",
          active: true,
          imageDigest: one.imageDigest,
          imageUri
        })
        assert.strictEqual(JSON.parse(yield* getFrom(back.id, "/env")).NOTE, "one")
        const records = (yield* all).map(({ active, status, version }) => [version, status, active])
        assert.deepStrictEqual(records, [[3, "running", true], [2, "rolled_back", false], [1, "running", false]])
        const left = yield* until(machines, (list) => list.length === 1)
        assert.strictEqual(left[0]!.name, back.id)
      }),
    30_000
  )

  it.effect("is refused to versions that are unknown, never ran, or are no longer kept", () =>
    Effect.gen(function*() {
      const { as, deploy, deployments, server } = yield* setUp(1)
      yield* deploy("healthy", "1")
      yield* deploy("crash", "2")
      yield* deploy("healthy", "3")
      yield* deploy("healthy", "4")
      const refusal = (version: number) => Effect.flip(as(deployments.rollback(server.id, { version })))
      assert.strictEqual((yield* refusal(9))._tag, "VersionNotFound")
      assert.strictEqual((yield* refusal(2 ** 40))._tag, "VersionNotFound")
      assert.include((yield* refusal(2)).message, "it never ran")
      assert.include((yield* refusal(1)).message, "no longer kept")
      const { id } = yield* as(deployments.rollback(server.id, { version: 3 }))
      assert.strictEqual((yield* as(deployments.settled(id))).status, "running")
    }), 30_000)

  it.effect("images that no version needs are collected, those of kept versions stay", () =>
    Effect.gen(function*() {
      const { as, deploy, deployments, machines, server } = yield* setUp(1)
      const images = yield* Images
      const digests = yield* Effect.forEach(["a", "b", "c"], (note) =>
        Effect.map(deploy("healthy", note), (done) => done.imageDigest!))
      // A machine that drains stands on its image still.
      yield* until(machines, (list) =>
        list.length === 1)
      yield* Effect.flatMap(Retention, (retention) => retention.collect())
      assert.deepStrictEqual(yield* Effect.forEach(digests, images.has), [false, true, true])
      const gone = yield* Effect.flip(as(deployments.rollback(server.id, { version: 1 })))
      assert.strictEqual(gone._tag, "VersionNotKept")
    }), 30_000)

  it.effect(
    "the engine's journal of a pipeline is forgotten a day after its end, and never before it",
    () =>
      Effect.gen(function*() {
        const { as, deploy, deployments, server } = yield* setUp()
        const sql = yield* SqlClient.SqlClient
        const ended = yield* deploy("healthy")
        yield* until(
          sql`SELECT 1 FROM deployments WHERE server_id = ${server.id} AND stage = 'retired'`,
          (rows) => rows.length === 1
        )
        const { id } = yield* as(deployments.deploy(server.id, { imageUri: yield* appImage("silent") }))
        const journal = (deployment: string) =>
          Effect.map(
            sql`SELECT m.id FROM cluster_messages m WHERE entity_id IN (
            SELECT entity_id FROM cluster_messages WHERE payload::jsonb ->> 'deploymentId' = ${deployment})`,
            (rows) => rows.length
          )
        yield* until(journal(id), (count) => count > 1)
        const collect = Effect.flatMap(Retention, (retention) => retention.collect())
        yield* collect
        assert.isAbove(yield* journal(ended.id), 5)
        yield* sql`UPDATE cluster_messages SET last_read = now() - interval '2 days'`
        yield* collect
        assert.strictEqual(yield* journal(ended.id), 0)
        assert.isAbove(yield* journal(id), 1)
      }),
    30_000
  )
}, variables)

longPlatformSuite("auto-rollback", (it) => {
  it.effect(
    "on: the failed machine goes, the old one never stops, the server stays running",
    () =>
      Effect.gen(function*() {
        const { all, deploy, machines, status } = yield* setUp()
        const good = yield* deploy("healthy")
        const bad = yield* deploy("failing")
        assert.strictEqual(bad.status, "failed")
        assert.strictEqual(yield* status, "running")
        assert.strictEqual(yield* getFrom(good.id, "/healthz"), "{\"ok\":true}")
        const left = yield* until(machines, (list) => list.length === 1)
        assert.deepInclude(left[0]!, { name: good.id, status: "running" })
        assert.deepStrictEqual((yield* all).map(({ active }) => active), [false, true])
      }),
    30_000
  )

  it.effect(
    "off: the failed machine stays for its logs, the old one serves, the server is in error",
    () =>
      Effect.gen(function*() {
        const { as, deploy, machines, server, servers, status } = yield* setUp()
        yield* as(servers.update(server.id, { rollbackOnHealthCheckFailure: false }))
        const good = yield* deploy("healthy")
        const bad = yield* deploy("failing")
        assert.strictEqual(yield* status, "error")
        assert.strictEqual(yield* getFrom(good.id, "/healthz"), "{\"ok\":true}")
        // What the retirement of a failed machine would take.
        yield* Effect.sleep("1 second")
        const names = (yield* machines).map(({ name }) => name)
        assert.deepStrictEqual(names.sort(), [good.id, bad.id].sort())
        const next = yield* deploy("healthy", "next")
        assert.strictEqual(yield* status, "running")
        const left = yield* until(machines, (list) => list.length === 1)
        assert.strictEqual(left[0]!.name, next.id)
      }),
    30_000
  )

  it.effect("off: a failure before there is a machine leaves the server as it is", () =>
    Effect.gen(function*() {
      const { as, deploy, deployImage, server, servers, status } = yield* setUp()
      yield* as(servers.update(server.id, { rollbackOnHealthCheckFailure: false }))
      yield* deploy("healthy")
      assert.strictEqual((yield* deployImage("oci:/nowhere")).status, "failed")
      assert.strictEqual(yield* status, "running")
    }), 30_000)

  it.effect(
    "a first deployment that fails leaves the server in error, and the next one provisioning",
    () =>
      Effect.gen(function*() {
        const { as, deploy, deployImage, deployments, server, status } = yield* setUp()
        yield* deployImage("oci:/nowhere")
        assert.strictEqual(yield* status, "error")
        yield* as(deployments.deploy(server.id, { imageUri: yield* appImage("slow") }))
        assert.strictEqual(yield* status, "provisioning")
        yield* until(status, (now) => now === "error")
        yield* deploy("healthy")
        assert.strictEqual(yield* status, "running")
      }),
    30_000
  )
}, variables)
