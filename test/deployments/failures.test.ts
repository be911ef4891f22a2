import { Deployments } from "#src/deployments/Deployments.ts"
import { Machines } from "#src/machines/Machines.ts"
import { ServerLogs } from "#src/servers/ServerLogs.ts"
import { Servers } from "#src/servers/Servers.ts"
import { SqlClient } from "@effect/sql"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { temporaryDirectory } from "../support/Settings.ts"
import { appImage } from "./support/app-image.ts"
import { longPlatformSuite, makeServer } from "./support/platform.ts"
import { until } from "./support/wait.ts"

/** A layout whose manifest is these bytes, with their digest. */
const manifestOf = (bytes: Buffer) =>
  Effect.sync(() => {
    const layout = temporaryDirectory("layout")
    const digest = createHash("sha256").update(bytes).digest("hex")
    mkdirSync(join(layout, "blobs/sha256"), { recursive: true })
    writeFileSync(join(layout, "blobs/sha256", digest), bytes)
    const mediaType = "application/vnd.oci.image.manifest.v1+json"
    const manifests = [{ mediaType, digest: `sha256:${digest}`, size: bytes.length }]
    writeFileSync(join(layout, "index.json"), JSON.stringify({ schemaVersion: 2, manifests }))
    return `oci:${layout}`
  })

const absent = Effect.succeed("oci:/nowhere/at/all")

const table = [
  ["an image that is not there", absent, /^resolving: .+/],
  [
    "a manifest of NULs, which the database stores nowhere",
    manifestOf(Buffer.from("\0\0\0\0 not json")),
    /^resolving: The image manifest is malformed: .*\ufffd{4} not json/
  ],
  [
    "a compressed manifest",
    manifestOf(gzipSync(JSON.stringify({ schemaVersion: 2 }))),
    /^resolving: The image manifest is malformed: [^\u0000-\u001f]+$/
  ],
  ["an image of another architecture", appImage("healthy", { architecture: "s390x" }), /^resolving: .*s390x/],
  [
    "a machine that answers its health check once and ends",
    appImage("brief"),
    /^checking: the machine answered \/healthz and then exited with code 4: Fatal error: that was all$/
  ],
  [
    "a server that never listens",
    appImage("silent"),
    /^checking: \/healthz did not answer: connection refused .*8080.*waited 3 s/
  ],
  [
    "a server whose /healthz answers 500",
    appImage("failing"),
    /^checking: \/healthz answered with status 500, not 200/
  ],
  [
    "a server whose /healthz is not JSON",
    appImage("text"),
    /^checking: \/healthz answered 200, but the body is not JSON/
  ],
  [
    "a server that takes connections and says nothing",
    appImage("deaf"),
    /^checking: \/healthz took the connection and did not answer/
  ],
  [
    "a server that crashes at once",
    appImage("crash"),
    /^checking: the machine exited with code 3 before \/healthz answered: Fatal error: no configuration$/
  ],
  [
    "an image without the program it names",
    appImage("healthy", { program: "/nope" }),
    /^checking: the machine exited with code \d+ before \/healthz answered: .*\/nope.*(no such file|not found)/i
  ]
] as const

longPlatformSuite("a deployment that fails", (it) => {
  for (const [what, image, expected] of table) {
    it.effect(`says where and why: ${what}`, () =>
      Effect.gen(function*() {
        const deployments = yield* Deployments
        const { as, server } = yield* makeServer({ healthTimeoutSeconds: 3 })
        const { id } = yield* as(deployments.deploy(server.id, { imageUri: yield* image }))
        const done = yield* as(deployments.settled(id))
        assert.strictEqual(done.status, "failed")
        assert.match(done.errorMessage!, expected)
        assert.isFalse(done.active)
        assert.isNull(done.deployedAt)
        assert.strictEqual((yield* as(Effect.flatMap(Servers, (servers) => servers.get(server.id)))).status, "error")
        const { items } = yield* as(Effect.flatMap(ServerLogs, (logs) => logs.list(server.id, { limit: 200 })))
        const errors = items.filter(({ level }) => level === "error")
        assert.include(errors.map(({ message }) => message), `Deployment 1: failed: ${done.errorMessage}`)
        // Where a machine's socket is on the host.
        assert.notMatch(JSON.stringify([done, items]), /\/m\/[0-9a-f]+\.s\b/)
        const machines = yield* Machines
        yield* until(machines.list(server.id), (list) => list.length === 0)
        // They wait most of the time, each for a server of its own.
      }), { timeout: 60_000, concurrent: true })
  }

  it.effect("comes to its end at once although the database takes no word of why", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const deployments = yield* Deployments
      yield* sql`ALTER TABLE deployments ADD CONSTRAINT no_words CHECK (error_message NOT LIKE '%unutterable%')`
      const { as, server } = yield* makeServer()
      const { id } = yield* as(deployments.deploy(server.id, { imageUri: "oci:/nowhere/unutterable" }))
      const done = yield* as(deployments.settled(id)).pipe(Effect.timeout("5 seconds"))
      assert.deepInclude(done, { status: "failed", errorMessage: "resolving: an internal error of the platform" })
      yield* sql`ALTER TABLE deployments DROP CONSTRAINT no_words`
    }), 30_000)

  it.effect("starts its machine once, and tells once why that ended", () =>
    Effect.gen(function*() {
      const deployments = yield* Deployments
      const { as, server } = yield* makeServer()
      const imageUri = yield* appImage("healthy", { program: "/nope" })
      const { id } = yield* as(deployments.deploy(server.id, { imageUri }))
      yield* as(deployments.settled(id))
      const { items } = yield* as(Effect.flatMap(ServerLogs, (logs) => logs.list(server.id, { limit: 200 })))
      const told = items.map(({ message }) => message).filter((text) => text.includes("/nope"))
      assert.strictEqual(told.filter((text) => !text.startsWith("Deployment 1: failed")).length, 1, told.join("\n"))
    }), 30_000)

  it.effect("leaves the last words of a crashed machine in the log", () =>
    Effect.gen(function*() {
      const deployments = yield* Deployments
      const { as, server } = yield* makeServer()
      const { id } = yield* as(deployments.deploy(server.id, { imageUri: yield* appImage("crash") }))
      yield* as(deployments.settled(id))
      const { items } = yield* as(Effect.flatMap(ServerLogs, (logs) => logs.list(server.id, { limit: 200 })))
      const messages = items.map(({ message }) => message).reverse()
      assert.include(messages, "Fatal error: no configuration")
      assert.isBelow(
        messages.indexOf("Fatal error: no configuration"),
        messages.findIndex((text) => text.includes("failed:"))
      )
    }), 30_000)
})
