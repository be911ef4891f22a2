import { clientLayer } from "#sql/Client.ts"
import { Deployments } from "#src/deployments/Deployments.ts"
import { Lifecycle } from "#src/deployments/Lifecycle.ts"
import { DeploymentJobsLive } from "#src/deployments/Live.ts"
import { Machines } from "#src/machines/Machines.ts"
import { Servers } from "#src/servers/Servers.ts"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { freshDatabaseUrl } from "../support/Database.ts"
import { describeLong } from "../support/needs.ts"
import { settingsTest, temporaryDirectory } from "../support/Settings.ts"
import { makeServer } from "./support/account.ts"
import { appImage, type Behaviour } from "./support/app-image.ts"
import { getFrom } from "./support/http.ts"
import { destroyMachines } from "./support/machines.ts"
import { services } from "./support/services.ts"
import { until } from "./support/wait.ts"

/** A platform that can be started several times over the same database and home. */
const site = Effect.gen(function*() {
  const url = yield* freshDatabaseUrl
  const home = temporaryDirectory("restart")
  const start = () => services(clientLayer(Redacted.make(url), 5), settingsTest({ BERTH_HOME: home }))
  yield* Effect.addFinalizer(() => destroyMachines(home))
  return {
    session: <A, E, R>(work: Effect.Effect<A, E, R>) =>
      Effect.provide(work, Layer.provideMerge(DeploymentJobsLive, start()))
  }
})

const begin = (behaviour: Behaviour) =>
  Effect.gen(function*() {
    const deployments = yield* Deployments
    const { as, server } = yield* makeServer()
    const pending = yield* as(deployments.deploy(server.id, { imageUri: yield* appImage(behaviour) }))
    return { as, server, id: pending.id }
  })

/** Each has a database and a home of its own, and waits most of the time. */
const apart = { timeout: 60_000, concurrent: true }

describeLong("a platform that is stopped and started", () => {
  it.scopedLive(
    "keeps a deployment canceled that was under way, and removes its machine",
    () =>
      Effect.gen(function*() {
        const { session } = yield* site
        const { as, id } = yield* session(
          Effect.tap(begin("slow"), ({ as, id, server }) =>
            Effect.gen(function*() {
              const machines = yield* Machines
              yield* until(machines.inspect(id), (state) => state?.status === "running")
              const deployments = yield* Deployments
              assert.strictEqual((yield* as(deployments.cancel(server.id, id))).status, "failed")
            }))
        )
        yield* session(Effect.gen(function*() {
          const machines = yield* Machines
          yield* until(machines.inspect(id), (state) => state === undefined)
          const deployments = yield* Deployments
          const done = yield* as(deployments.settled(id))
          assert.strictEqual(done.status, "failed")
          assert.match(done.errorMessage ?? "", /^Canceled by /)
        }))
      }),
    apart
  )

  it.scopedLive(
    "goes on with the deployment that was under way, as if it had not been stopped",
    () =>
      Effect.gen(function*() {
        const { session } = yield* site
        const { as, id, server } = yield* session(
          Effect.tap(begin("slow"), ({ id }) =>
            Effect.gen(function*() {
              const machines = yield* Machines
              yield* until(machines.inspect(id), (state) => state?.status === "running")
              yield* Effect.sleep("300 millis")
            }))
        )
        yield* session(Effect.gen(function*() {
          const deployments = yield* Deployments
          const done = yield* as(deployments.settled(id))
          assert.deepInclude(done, { status: "running", active: true })
          const { status } = yield* as(Effect.flatMap(Servers, (servers) => servers.get(server.id)))
          assert.strictEqual(status, "running")
        }))
      }),
    apart
  )

  it.scopedLive("has what served before answering again when it is ready itself", () =>
    Effect.gen(function*() {
      const { session } = yield* site
      const { id } = yield* session(
        Effect.tap(begin("slow"), ({ as, id }) =>
          Effect.flatMap(Deployments, (deployments) => as(deployments.settled(id))))
      )
      assert.strictEqual(yield* session(getFrom(id, "/healthz")), "{\"ok\":true}")
    }), apart)

  it.scopedLive("starts again what ran, and leaves alone what was stopped", () =>
    Effect.gen(function*() {
      const { session } = yield* site
      const settle = ({ as, id }: Effect.Effect.Success<ReturnType<typeof begin>>) =>
        Effect.flatMap(Deployments, (deployments) => as(deployments.settled(id)))
      const [ran, stopped] = yield* session(Effect.gen(function*() {
        const one = yield* begin("healthy")
        const two = yield* begin("healthy")
        yield* settle(one)
        yield* settle(two)
        yield* two.as(Effect.flatMap(Lifecycle, (lifecycle) => lifecycle.stop(two.server.id)))
        return [one, two] as const
      }))
      yield* session(Effect.gen(function*() {
        const machines = yield* Machines
        yield* until(machines.inspect(ran.id), (state) => state?.status === "running")
        yield* Effect.sleep("2500 millis")
        assert.strictEqual((yield* machines.inspect(stopped.id))?.status, "exited")
      }))
    }), apart)
})
