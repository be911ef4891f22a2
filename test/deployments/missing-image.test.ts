import { clientLayer } from "#sql/Client.ts"
import { Deployments } from "#src/deployments/Deployments.ts"
import { Lifecycle } from "#src/deployments/Lifecycle.ts"
import { DeploymentJobsLive } from "#src/deployments/Live.ts"
import { pauseBefore } from "#src/deployments/missing-image-rule.ts"
import { ServerLogs } from "#src/servers/ServerLogs.ts"
import { Servers } from "#src/servers/Servers.ts"
import { SqlClient } from "@effect/sql"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { renameSync } from "node:fs"
import { dirname, join } from "node:path"
import { freshDatabaseUrl } from "../support/Database.ts"
import { describeLong } from "../support/needs.ts"
import { imageFromLayout, startFakeRegistry } from "../support/registry.ts"
import { settingsTest, temporaryDirectory } from "../support/Settings.ts"
import { makeServer } from "./support/account.ts"
import { appImage, missingForApps } from "./support/app-image.ts"
import { getFrom } from "./support/http.ts"
import { destroyMachines } from "./support/machines.ts"
import { services } from "./support/services.ts"
import { until } from "./support/wait.ts"

/** One installation on hosts that come one after the other, each with an empty home. */
const installation = Effect.gen(function*() {
  const database = clientLayer(Redacted.make(yield* freshDatabaseUrl), 5)
  const SECRET_KEY = randomBytes(32).toString("base64")
  const onNewHost = <A, E, R>(
    work: Effect.Effect<A, E, R>,
    variables: Readonly<Record<string, string>> = {}
  ) =>
    Effect.suspend(() => {
      const home = temporaryDirectory("host")
      const platform = services(database, settingsTest({ BERTH_HOME: home, SECRET_KEY, ...variables }))
      return Effect.provide(work, Layer.provideMerge(DeploymentJobsLive, platform)).pipe(
        Effect.ensuring(destroyMachines(home))
      )
    })
  return { onNewHost }
})

const deployed = (imageUri: string) =>
  Effect.gen(function*() {
    const deployments = yield* Deployments
    const made = yield* makeServer()
    const { id } = yield* made.as(deployments.deploy(made.server.id, { imageUri }))
    const { errorMessage, imageDigest, status } = yield* made.as(deployments.settled(id))
    assert.strictEqual(status, "running", errorMessage)
    return { ...made, id, imageDigest }
  })
type Deployed = Effect.Effect.Success<ReturnType<typeof deployed>>

const statusOf = ({ as, server }: Deployed) =>
  as(Effect.flatMap(Servers, (servers) => Effect.map(servers.get(server.id), ({ status }) => status)))
const versionsOf = ({ as, server }: Deployed) =>
  as(Effect.flatMap(Deployments, (deployments) => deployments.list(server.id, { limit: 10 })))
const logOf = ({ as, server }: Deployed) =>
  as(
    Effect.flatMap(ServerLogs, (logs) =>
      Effect.map(logs.list(server.id, { limit: 200 }), ({ items }) => items.map(({ message }) => message)))
  )

/** The statuses that the server had, for as long as something is done. */
const seeing = <A, E, R>(made: Deployed, work: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const seen: Array<unknown> = []
    const look = Effect.map(sql`SELECT status FROM servers WHERE id = ${made.server.id}`, ([row]) => {
      if (seen.at(-1) !== row?.["status"]) seen.push(row?.["status"])
    })
    yield* Effect.raceFirst(work, Effect.forever(Effect.delay(look, "5 millis")))
    return seen
  })

/** An image as the ready server's is made in a home; `away` takes it from there. */
const madeImage = (note: string) =>
  Effect.map(appImage("healthy", { note }), (imageUri) => {
    const layout = imageUri.slice("oci:".length)
    const folder = join(dirname(layout), "ready-image")
    renameSync(layout, folder)
    return { imageUri: `oci:${folder}`, elsewhere: imageUri, away: () => renameSync(folder, layout) }
  })

/** Each has a database and a home of its own, and waits most of the time. */
const apart = { timeout: 90_000, concurrent: true }

describeLong("a host that has none of the images", () => {
  it.scopedLive("brings back what ran, each image by its digest, and nothing else", () =>
    Effect.gen(function*() {
      const { onNewHost } = yield* installation
      const first = imageFromLayout((yield* appImage("slow")).slice("oci:".length))
      const second = imageFromLayout((yield* appImage("crash")).slice("oci:".length))
      const registry = yield* Effect.acquireRelease(
        Effect.promise(() => startFakeRegistry()),
        ({ close }) => Effect.promise(close)
      )
      const made = [yield* madeImage("as now"), yield* madeImage("of another version")] as const
      const variables = { ALLOWED_PRIVATE_HOSTS: registry.host, READY_IMAGE: made[0].elsewhere }

      const [tagged, same, other, stopped] = yield* onNewHost(
        Effect.gen(function*() {
          const stopped = yield* deployed(yield* appImage("healthy"))
          yield* stopped.as(Effect.flatMap(Lifecycle, (lifecycle) => lifecycle.stop(stopped.server.id)))
          const tagged = yield* deployed(registry.add("acme/menu", first, "v1"))
          return [tagged, yield* deployed(made[0].imageUri), yield* deployed(made[1].imageUri), stopped] as const
        }),
        variables
      )
      registry.add("acme/menu", second, "v1")
      for (const { away } of made) away()

      yield* onNewHost(
        Effect.gen(function*() {
          const seen = yield* seeing(
            tagged,
            until(logOf(tagged), (messages) => messages.some((message) => message.startsWith("The server is back")))
          )
          assert.includeMembers(seen.map(String), ["provisioning", "running"])
          assert.strictEqual(yield* getFrom(tagged.id, "/healthz"), "{\"ok\":true}")
          const { data } = yield* versionsOf(tagged)
          const kept = "whatever the tag names by now"
          assert.deepStrictEqual(
            data.map(({ id, imageDigest }) => [id, imageDigest]),
            [[tagged.id, first.digest]],
            kept
          )

          yield* until(logOf(same), (messages) => messages.includes("The server is back"))
          assert.deepStrictEqual((yield* versionsOf(same)).data.map(({ version }) => version), [1])

          // A ready server knows what it serves from its business: it is deployed as it is made now, and says so.
          yield* until(versionsOf(other), ({ data: [newest] }) => newest?.version === 2 && newest.active)
          const { data: [newest, before] } = yield* versionsOf(other)
          assert.deepInclude(newest, { type: "deploy", status: "running", imageUri: made[0].elsewhere })
          assert.strictEqual(newest?.imageDigest, same.imageDigest)
          assert.deepInclude(before, { version: 1, active: false, imageDigest: other.imageDigest })
          assert.strictEqual(yield* statusOf(other), "running")

          assert.strictEqual(yield* statusOf(stopped), "stopped")
          assert.notInclude((yield* logOf(stopped)).join(), "getting it again")
        }),
        variables
      )
    }), apart)

  it.scopedLive(
    "has a server in error, and why in its log, whose image is nowhere; a start tries again",
    () =>
      Effect.gen(function*() {
        const { onNewHost } = yield* installation
        const imageUri = yield* appImage("healthy")
        const layout = imageUri.slice("oci:".length)
        const made = yield* onNewHost(deployed(imageUri))
        renameSync(layout, `${layout}-away`)
        yield* onNewHost(Effect.gen(function*() {
          yield* until(statusOf(made), (status) => status === "error")
          const told = (yield* logOf(made)).filter((message) => message.startsWith("The server can't be brought back"))
          assert.lengthOf(told, 1)
          assert.include(told[0], `oci:${layout} does not exist`)
          const lifecycle = yield* Lifecycle
          assert.strictEqual((yield* made.as(lifecycle.start(made.server.id))).status, "error")
          renameSync(`${layout}-away`, layout)
          assert.strictEqual((yield* made.as(lifecycle.start(made.server.id))).status, "running")
          assert.strictEqual(yield* getFrom(made.id, "/healthz"), "{\"ok\":true}")
        }))
      }),
    apart
  )
}, missingForApps)

describeLong("an image that could not be had", () => {
  it("is asked for again ever less often, and every ten minutes in the end", () => {
    assert.deepStrictEqual([1, 2, 3, 6, 7, 100].map((times) => pauseBefore(times) / 1000), [15, 30, 60, 480, 600, 600])
  })
})
