import { type Health } from "#src/businesses/Business.ts"
import { Businesses } from "#src/businesses/Businesses.ts"
import { Deployments } from "#src/deployments/Deployments.ts"
import { HealthProbes } from "#src/deployments/HealthProbes.ts"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { getFrom } from "./http.ts"
import { type Mood, moodyImage } from "./moody-image.ts"
import { makeServer } from "./platform.ts"

/** Each probe stands for an hour: a day of running is 24 rounds. */
export const hourly = { HEALTH_PROBE_SECONDS: "3600" }

/** A business whose server was deployed, and ways to change and see its health. */
export const setUp = (deploy = true) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const businesses = yield* Businesses
    const deployments = yield* Deployments
    const probes = yield* HealthProbes
    const made = yield* makeServer({ healthTimeoutSeconds: 5 })
    const { as, project, server } = made
    const business = yield* as(businesses.create({ projectId: project.id, name: "Ladle", templateType: "custom" }))
    yield* as(businesses.update(business.id, { serverId: server.id }))
    const release = (imageUri: string) =>
      Effect.flatMap(as(deployments.deploy(server.id, { imageUri })), ({ id }) => as(deployments.settled(id)))
    if (deploy) yield* release(yield* moodyImage())
    const machine = Effect.map(
      sql`SELECT active_deployment_id AS id FROM servers WHERE id = ${server.id}`,
      ([row]) => String(row?.["id"])
    )
    const ask = (path: string) => Effect.flatMap(machine, (id) => getFrom(id, path))
    const hourLater =
      sql`UPDATE server_health SET probed_at = probed_at - interval '1 hour', failed_at = failed_at - interval '1 hour'`
    const health = Effect.map(as(businesses.get(business.id)), (read): typeof Health.Type | null => read.health)
    return {
      ...made,
      businesses,
      business,
      release,
      machine,
      ask,
      be: (mood: Mood) => ask(`/be/${mood}`),
      asked: Effect.map(ask("/count"), Number),
      hour: Effect.zipRight(hourLater, probes.run()),
      health,
      score: Effect.map(health, (read) => read?.score),
      listed: Effect.map(
        sql`SELECT health_score, relevance_score, updated_at, xmin::text AS version FROM listings
            WHERE business_id = ${business.id}`,
        ([row]) => row as { healthScore: number; relevanceScore: number; updatedAt: Date; version: string }
      )
    }
  })
