import { clientLayer } from "#sql/Client.ts"
import { Deployments } from "#src/deployments/Deployments.ts"
import { DeploymentJobsLive } from "#src/deployments/Live.ts"
import { stages } from "#src/deployments/transitions.ts"
import { Machines } from "#src/machines/Machines.ts"
import { Servers } from "#src/servers/Servers.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Layer, Redacted, Schedule } from "effect"
import { settingsTest } from "../../support/Settings.ts"
import { actorOf, asActor, makeServer } from "./account.ts"
import { services } from "./services.ts"

/**
 * A platform in a process of its own. `deploy` deploys two images to a new server and is killed when the second
 * reaches the stage; `resume` comes up afterwards and tells what it finds once nothing is under way.
 */
const [what = "", url = "", home = "", ...rest] = process.argv.slice(2)

const say = (value: unknown) => Effect.sync(() => console.log(JSON.stringify(value)))

/** The stage is looked for without a pause: the kill comes right after the intent was written. */
const killAt = (id: string, stage: string, delay: number) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const target = stages.findIndex((name) => name === stage)
    yield* Effect.repeat(sql`SELECT stage FROM deployments WHERE id = ${id}`, {
      until: ([row]) => stages.findIndex((name) => name === row?.["stage"]) >= target
    })
    yield* Effect.sleep(delay)
    yield* Effect.sync(() => process.kill(process.pid, "SIGKILL"))
  })

const deploy = Effect.gen(function*() {
  const [first = "", second = "", stage = "", delay = "0"] = rest
  const deployments = yield* Deployments
  const { actor, as, server } = yield* makeServer()
  const one = yield* as(deployments.deploy(server.id, { imageUri: first }))
  yield* as(deployments.settled(one.id))
  const state = yield* Effect.flatMap(Machines, (machines) => machines.inspect(one.id))
  const two = yield* as(deployments.deploy(server.id, { imageUri: second }))
  yield* say({ account: actor.accountId, server: server.id, one: one.id, two: two.id, address: state?.address })
  yield* killAt(two.id, stage, Number(delay))
})

const resume = Effect.gen(function*() {
  const [account = "", serverId = ""] = rest
  const as = asActor(actorOf(account))
  const sql = yield* SqlClient.SqlClient
  const machines = yield* Machines
  yield* Effect.repeat(sql`SELECT 1 FROM deployments WHERE stage NOT IN ('retired', 'failed', 'kept')`, {
    until: (rows) => rows.length === 0,
    schedule: Schedule.spaced("100 millis")
  })
  // Longer than the supervision's interval: what should run has been started by then.
  yield* Effect.sleep("2500 millis")
  const { data } = yield* as(Effect.flatMap(Deployments, (deployments) => deployments.list(serverId, { limit: 10 })))
  const server = yield* as(Effect.flatMap(Servers, (servers) => servers.get(serverId)))
  yield* say({ deployments: data, status: server.status, machines: yield* machines.list() })
})

const platform = services(clientLayer(Redacted.make(url), 5), settingsTest({ BERTH_HOME: home }))
const program: Effect.Effect<void, unknown> = what === "deploy"
  ? Effect.provide(deploy, platform)
  : Effect.provide(resume, Layer.provideMerge(DeploymentJobsLive, platform))
await Effect.runPromise(program)
process.exit(0)
