import { Accounts } from "#src/accounts/Accounts.ts"
import { type Actor, CurrentActor } from "#src/accounts/CurrentActor.ts"
import { Profile } from "#src/businesses/Business.ts"
import { Businesses } from "#src/businesses/Businesses.ts"
import { packageRoot } from "#src/config/package-root.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { type Deployment } from "#src/deployments/Deployment.ts"
import { Deployments } from "#src/deployments/Deployments.ts"
import { awaitHealthy, healthRule } from "#src/deployments/HealthCheck.ts"
import { TestTokens } from "#src/oauth/TestTokens.ts"
import { Projects } from "#src/projects/Projects.ts"
import { Publishing } from "#src/publishing/Publishing.ts"
import { ReadyImage } from "#src/ready-image/ReadyImage.ts"
import { type Server } from "#src/servers/Server.ts"
import { Servers } from "#src/servers/Servers.ts"
import { CallerAddress } from "#src/shared/CallerAddress.ts"
import { Data, Effect, Option, Schedule, Schema } from "effect"
import { randomBytes } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** The demo could not be set up. The platform keeps running. */
export class DemoError extends Data.TaggedError("DemoError")<{ readonly message: string }> {}

/** What the demo created, so that the next start reuses it. The password is only for this installation's demo account. */
const Record = Schema.parseJson(Schema.Struct({
  email: Schema.String,
  password: Schema.String,
  serverId: Schema.NullOr(Schema.String)
}))
type Record = typeof Record.Type

const recordPath = (home: string) => join(home, "demo.json")

const readRecord = (home: string) =>
  Effect.try(() => readFileSync(recordPath(home), "utf8")).pipe(
    Effect.flatMap(Schema.decode(Record)),
    Effect.option
  )

const writeRecord = (home: string, record: Record) =>
  Effect.sync(() => writeFileSync(recordPath(home), Schema.encodeSync(Record)(record), { mode: 0o600 }))

const say = (message: string) => Effect.log(`Demo: ${message}`)

/** Logs in to the demo account; signs it up when there is none yet. */
const enter = Effect.fn("Demo.enter")(function*(home: string) {
  const accounts = yield* Accounts
  const saved = yield* readRecord(home)
  const record = Option.getOrElse(saved, (): Record => ({
    email: "demo@berth.localhost",
    password: randomBytes(12).toString("base64url"),
    serverId: null
  }))
  if (Option.isNone(saved)) {
    yield* writeRecord(home, record)
    yield* say(`opening the account ${record.email}`)
  }
  const session = yield* accounts.logIn(record).pipe(
    Effect.catchTag(
      "WrongCredentials",
      () => accounts.signUp({ email: record.email, password: record.password })
    )
  )
  const actor = Option.getOrThrow(yield* accounts.authenticate(session.token))
  return { record, actor }
})

/** Follows a deployment, logs one line per stage, and fails with its error. */
const follow = Effect.fn("Demo.follow")(function*({ id }: Pick<Deployment, "id">) {
  const deployments = yield* Deployments
  const ended = yield* deployments.follow(
    id,
    ({ message, step, total }) => say(`deploying, step ${step} of ${total}: ${message}`)
  )
  if (ended.status !== "running") return yield* new DemoError({ message: ended.errorMessage ?? "it did not start" })
})

const example = (name: string) => readFileSync(join(packageRoot(), "examples/restaurant", name), "utf8")
const profile = Schema.decodeSync(Schema.parseJson(Profile))

/** Does what `berth publish menu.csv` does: from a CSV file to a server that knows the menu. */
const publish = Effect.fn("Demo.publish")(function*() {
  const projects = yield* Projects
  const { data: [newest] } = yield* projects.list({ limit: 1 })
  const project = newest ?? (yield* projects.create({ name: "Demo" }))
  const input = {
    filename: "menu.csv",
    content: example("menu.csv"),
    name: "Copper Ladle",
    templateType: "restaurant",
    projectId: project.id,
    profile: profile(example("profile.json")),
    visible: true
  } as const
  const { deployment, serverId } = yield* (yield* Publishing).publish(
    input,
    ({ message, step, total }) => say(`publishing menu.csv, step ${step} of ${total}: ${message}`)
  )
  if (deployment.status !== "running") return yield* new DemoError({ message: deployment.errorMessage ?? "it failed" })
  return yield* (yield* Servers).get(serverId)
})

/** The recorded server; the newest business's when the process ended before it wrote the record. */
const findServer = Effect.fn("Demo.existing")(function*(record: Record) {
  const { data: [newest] } = yield* (yield* Businesses).list({ limit: 1 })
  const id = record.serverId ?? newest?.serverId ?? undefined
  return id === undefined ? Option.none<Server>() : yield* Effect.option((yield* Servers).get(id))
})

const deploy = Effect.fn("Demo.deploy")(function*(server: Server) {
  const imageUri = yield* (yield* ReadyImage).reference
  yield* follow(yield* (yield* Deployments).deploy(server.id, { imageUri }))
})

/** Waits until a server that ran before is healthy again, so that the printed URL works at once. */
const awaitRestart = Effect.fn("Demo.awake")(
  function*(server: Server, deployment: Pick<Deployment, "id" | "imageUri" | "admittedBy" | "transport">) {
    if (server.status !== "running") return
    yield* awaitHealthy(healthRule(server, { ...deployment, port: 0 })).pipe(
      Effect.retry(Schedule.spaced("100 millis")),
      Effect.timeoutOption("20 seconds")
    )
  }
)

const finish = Effect.fn("Demo.finish")(function*(actor: Actor, server: Server) {
  const url = `${server.publicUrl}/mcp`
  const { accessToken } = yield* (yield* TestTokens).createTestToken(server.id)
  return { email: actor.email, url, token: accessToken }
})

/** Whether to show a demo: only in development, and only in a home that is empty or has had just the demo. */
export const shouldShowDemo = Effect.fn("Demo.wanted")(function*() {
  const { home, production } = yield* CurrentSettings
  if (production) return false
  return Option.isSome(yield* readRecord(home)) || !(yield* (yield* Accounts).anybody)
})

/**
 * Sets up a restaurant's MCP server from a CSV file: account, business, server, deployment, listing. If it is
 * interrupted, the next start continues from what exists.
 */
export const demo = Effect.fn("Demo")(function*() {
  const { home } = yield* CurrentSettings
  const { actor, record } = yield* enter(home)
  return yield* Effect.gen(function*() {
    const existingServer = yield* findServer(record)
    const server = Option.isSome(existingServer) ? existingServer.value : yield* publish()
    if (record.serverId !== server.id) yield* writeRecord(home, { ...record, serverId: server.id })
    const { data } = yield* (yield* Deployments).list(server.id, { limit: 100 })
    const activeDeployment = data.find(({ active }) => active)
    const open = data.find(({ status }) => status === "pending" || status === "building")
    if (open !== undefined) yield* follow(open)
    else if (activeDeployment === undefined) yield* deploy(server)
    else yield* awaitRestart(server, activeDeployment)
    return yield* finish(actor, server)
  }).pipe(Effect.provideService(CurrentActor, actor))
}, Effect.provideService(CallerAddress, "local"))
