import { AccountId, type Actor, CurrentActor } from "#src/accounts/CurrentActor.ts"
import { type PlanName } from "#src/plans/Plan.ts"
import { Projects } from "#src/projects/Projects.ts"
import { CreateServer } from "#src/servers/Server.ts"
import { Servers } from "#src/servers/Servers.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { randomUUID } from "node:crypto"

const actorOf = (accountId: string, plan: PlanName = "pro"): Actor => ({
  accountId: AccountId.make(accountId),
  email: `${accountId}@example.com`,
  plan,
  credential: { kind: "session", id: "ses", expiresAt: new Date(Date.now() + 3_600_000) }
})

export const makeActor = (plan: PlanName = "pro") =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const actor = actorOf(`usr_${randomUUID()}`, plan)
    yield* sql`INSERT INTO users ${sql.insert({ id: actor.accountId, email: actor.email, passwordHash: "-", plan })}`
    return actor
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
