import { AccountId, type Actor, CurrentActor } from "#src/accounts/CurrentActor.ts"
import { type PlanName } from "#src/billing/Plan.ts"
import { DeploymentsLive } from "#src/deployments/Live.ts"
import { Images } from "#src/images/Images.ts"
import { Machines } from "#src/machines/Machines.ts"
import { SandboxLive } from "#src/machines/sandbox/Sandbox.ts"
import { Projects } from "#src/projects/Projects.ts"
import { CreateServer } from "#src/servers/Server.ts"
import { Servers } from "#src/servers/Servers.ts"
import { ServicesLive } from "#src/Services.ts"
import { GuardedHttp } from "#src/shared/GuardedHttp.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Layer, Logger, LogLevel, Schema } from "effect"
import { randomUUID } from "node:crypto"
import { DatabaseTest } from "../../support/Database.ts"
import { settingsTest } from "../../support/Settings.ts"

/** Machines outlive the process that started them: a test takes its own along. */
const machinesEnd = Layer.scopedDiscard(
  Effect.flatMap(Machines, (machines) =>
    Effect.addFinalizer(() =>
      machines.list().pipe(
        Effect.flatMap(Effect.forEach(({ name }) => machines.destroy(name), { concurrency: 8 })),
        Effect.orDie
      )
    ))
)

/** Everything below the doors, on a database and a home of its own, with machines of the sandbox. */
export const platform = (variables: Readonly<Record<string, string>> = {}, machines = SandboxLive) =>
  DeploymentsLive.pipe(
    Layer.provideMerge(ServicesLive),
    Layer.provideMerge(Images.Default),
    Layer.provideMerge(GuardedHttp.Default),
    Layer.provideMerge(machinesEnd),
    Layer.provideMerge(machines),
    Layer.provideMerge(DatabaseTest),
    Layer.provideMerge(settingsTest(variables)),
    Layer.provide(Logger.minimumLogLevel(LogLevel.Warning)),
    Layer.orDie
  )

export const makeActor = (plan: PlanName = "pro") =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const id = `usr_${randomUUID()}`
    const email = `${id}@example.com`
    yield* sql`INSERT INTO users ${sql.insert({ id, email, passwordHash: "-", plan })}`
    return {
      accountId: AccountId.make(id),
      email,
      plan,
      credential: { kind: "session", id: "ses", expiresAt: new Date(Date.now() + 3_600_000) }
    } satisfies Actor
  })

export const asActor = (actor: Actor) => Effect.provideService(CurrentActor, actor)

/** A new account with a project and a server in it, and how to act as its owner. */
export const makeServer = (input: Partial<typeof CreateServer.Encoded> = {}, plan: PlanName = "pro") =>
  Effect.gen(function*() {
    const actor = yield* makeActor(plan)
    const as = asActor(actor)
    const project = yield* as(Effect.flatMap(Projects, (projects) => projects.create({ name: "Test" })))
    const body = Schema.decodeUnknownSync(CreateServer)({ name: "App", healthTimeoutSeconds: 5, ...input })
    const server = yield* as(Effect.flatMap(Servers, (servers) => servers.create(project.id, body)))
    return { actor, as, project, server }
  })
