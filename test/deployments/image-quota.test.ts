import { type Deployment } from "#src/deployments/Deployment.ts"
import { Deployments } from "#src/deployments/Deployments.ts"
import { UsageReports } from "#src/limits/UsageReports.ts"
import { plans } from "#src/plans/Plan.ts"
import { newServer } from "#src/servers/Server.ts"
import { Servers } from "#src/servers/Servers.ts"
import { SqlClient } from "@effect/sql"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { appImage } from "./support/app-image.ts"
import { longPlatformSuite, makeServer } from "./support/platform.ts"

const allowed = plans.free.quotas.imageBytes!

/** A free account with two servers, and how it deploys to them. */
const account = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const deployments = yield* Deployments
  const servers = yield* Servers
  const reports = yield* UsageReports
  const { as, project, server } = yield* makeServer({}, "free")
  const other = yield* as(servers.create(project.id, {
    ...newServer,
    name: "Other",
    healthTimeoutSeconds: 5,
    requireMcp: null
  }))
  const settled = (id: Deployment["id"]) => as(deployments.settled(id))
  return {
    servers: [server.id, other.id] as const,
    deploy: (serverId: string, imageUri: string) =>
      Effect.flatMap(as(deployments.deploy(serverId, { imageUri })), ({ id }) => settled(id)),
    rollback: (serverId: string, version: number) =>
      Effect.flatMap(as(deployments.rollback(serverId, { version })), ({ id }) => settled(id)),
    /** What the account is told of it. */
    told: Effect.map(as(reports.get({})), ({ limits }) => limits.find(({ limit }) => limit === "imageBytes")),
    /** Bytes of the deployment's image. */
    size: ({ imageDigest }: Deployment) =>
      Effect.map(
        sql<{ layers: number; files: number }>`SELECT layer_bytes::float8 AS layers, unpacked_bytes::float8 AS files
          FROM images WHERE digest = ${imageDigest}`,
        ([row]) => row!
      ),
    /** Pretends that the deployment's image is so large that only this many bytes are left of the plan's. */
    leave: (deployment: Deployment, left: number) =>
      sql`UPDATE images SET layer_bytes = ${
        allowed - left
      }, unpacked_bytes = 0 WHERE digest = ${deployment.imageDigest}`
  }
})

longPlatformSuite("a plan's images", (it) => {
  it.effect(
    "are refused by the size of their layers, before anything is copied; the same image again is not",
    () =>
      Effect.gen(function*() {
        const { deploy, leave, rollback, servers: [one, two], told } = yield* account
        const imageUri = yield* appImage("healthy", { note: "first" })
        const first = yield* deploy(one, imageUri)
        assert.strictEqual(first.status, "running")
        yield* leave(first, 1000)
        assert.deepStrictEqual(yield* told, {
          limit: "imageBytes",
          used: allowed - 1000,
          allowed,
          reached: 80,
          over: false
        })
        const refused = yield* deploy(two, yield* appImage("healthy", { note: "second" }))
        assert.match(
          refused.errorMessage ?? "",
          /^mirroring: the image has [\d.]+ MB, and the free plan allows 2 GB of images, of which 2 GB are used; delete servers/
        )
        assert.strictEqual((yield* deploy(two, imageUri)).status, "running")
        assert.strictEqual((yield* rollback(one, 1)).status, "running")
        // Another account's images are its own affair.
        const others = yield* account
        assert.strictEqual((yield* others.deploy(others.servers[0], yield* appImage("healthy"))).status, "running")
      }),
    60_000
  )

  it.effect("are refused while they unpack, once that is more than is left", () =>
    Effect.gen(function*() {
      const { deploy, leave, servers: [one, two], size } = yield* account
      const first = yield* deploy(one, yield* appImage("healthy", { note: "third" }))
      yield* leave(first, (yield* size(first)).layers + 100_000)
      const refused = yield* deploy(two, yield* appImage("healthy", { note: "fourth" }))
      assert.match(refused.errorMessage ?? "", /^creating: the image unpacks to more than [\d.]+ kB, and the free plan/)
    }), 60_000)

  it.effect(
    "are counted once for all deployments that are under way: of two, one gets what is left",
    () =>
      Effect.gen(function*() {
        const { deploy, leave, servers: [one, two], size } = yield* account
        const first = yield* deploy(one, yield* appImage("healthy", { note: "fifth" }))
        const { files, layers } = yield* size(first)
        yield* leave(first, Math.floor(1.5 * (layers + files)))
        const done = yield* Effect.all([
          Effect.flatMap(appImage("healthy", { note: "sixth" }), (image) => deploy(one, image)),
          Effect.flatMap(appImage("healthy", { note: "seventh" }), (image) => deploy(two, image))
        ], { concurrency: "unbounded" })
        assert.deepStrictEqual(done.map(({ status }) => status).sort(), ["failed", "running"])
        assert.match(done.find(({ status }) => status === "failed")?.errorMessage ?? "", /allows 2 GB of images/)
      }),
    60_000
  )
})
