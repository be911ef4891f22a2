import { PlanName } from "#src/plans/Plan.ts"
import { isAlive, usedSince } from "#src/routing/used-since.ts"
import { many, one } from "#src/shared/sql.ts"
import { ComputeSpent, computeSpent } from "#src/usage/compute-spent.ts"
import { SqlClient, type Statement } from "@effect/sql"
import { Effect, Schema } from "effect"

const Idle = Schema.Struct({ serverId: Schema.String, generation: Schema.Int, autoStopSeconds: Schema.Int })
const Spent = Schema.Struct({
  serverId: Schema.String,
  generation: Schema.Int,
  plan: PlanName,
  spent: ComputeSpent
})
const Wanted = Schema.Struct({ serverId: Schema.String })

/** What is known of the use of a server since it fell asleep. */
const Quiet = Schema.Struct({
  /** A gateway told of a request to it after all. */
  used: Schema.Boolean,
  /** Its account's machine time of the period is used up: it stays asleep, whoever asks for it. */
  spent: Schema.Boolean,
  /** Each gateway has said since that it is done with what it had begun before. */
  heard: Schema.Boolean
})

/** Seconds after which a gateway knows that a server fell asleep, also where its connection for news is broken. */
const knownAfter = 2

/** How long nobody used which servers. Times are the database's. */
export class SleepRepo extends Effect.Service<SleepRepo>()("deployments/SleepRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const idleFor = sql`servers.auto_stop_seconds * interval '1 second'`
    const isQuiet = sql`servers.active_deployment_id IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM deployments d WHERE d.server_id = servers.id AND d.status IN ('pending', 'building'))`
    /** Of a server's project, as the JSON of the account's machine time that is used up. */
    const spentOf = (projectId: Statement.Fragment) =>
      computeSpent(sql, sql`(SELECT p.account_id FROM projects p WHERE p.id = ${projectId})`)
    /** Of a row of `servers`: nothing is left of its account's machine time, and nothing is deployed to it. */
    const isSpent = sql`${isQuiet} AND ${spentOf(sql`servers.project_id`)} IS NOT NULL`
    /** Of a row of `servers`: nobody used it for its time, and nothing is deployed to it at this moment. */
    const isIdle = sql`servers.status = 'running' AND servers.auto_stop_seconds IS NOT NULL AND ${isQuiet}
      AND servers.running_since <= clock_timestamp() - ${idleFor}
      AND NOT ${usedSince(sql, sql`servers.id`, sql`clock_timestamp() - ${idleFor}`)}`

    return {
      /** For the statement that puts a server to sleep, so that a use until then prevents it. */
      isIdle,
      idle: many(Idle)(() =>
        sql`SELECT id AS server_id, generation, auto_stop_seconds FROM servers
            WHERE ${isIdle} ORDER BY id`
      )(),
      isSpent,
      spent: many(Spent)(() =>
        sql`SELECT servers.id AS server_id, generation, u.plan, ${computeSpent(sql, sql`u.id`)} AS spent
            FROM servers JOIN projects p ON p.id = servers.project_id JOIN users u ON u.id = p.account_id
            WHERE servers.status IN ('running', 'error') AND ${isSpent} ORDER BY servers.id`
      )(),
      quiet: one(Quiet)((serverId: string) =>
        sql`SELECT ${usedSince(sql, sql`s.id`, sql`s.asleep_at`)} AS used, ${
          spentOf(sql`s.project_id`)
        } IS NOT NULL AS spent,
              NOT EXISTS (
              SELECT 1 FROM gateways g
              WHERE ${isAlive(sql)} AND g.seen_at <= s.asleep_at + ${knownAfter} * interval '1 second'
            ) AND clock_timestamp() > s.asleep_at + ${knownAfter} * interval '1 second' AS heard
            FROM (SELECT id, project_id, coalesce(asleep_at, clock_timestamp()) AS asleep_at FROM servers WHERE id = ${serverId}) s`
      ),
      /** Servers that sleep and are asked for since, or may no longer sleep. */
      wanted: many(Wanted)(() =>
        sql`SELECT s.id AS server_id FROM servers s WHERE s.asleep_at IS NOT NULL
              AND (s.wake_retry_at IS NULL OR s.wake_retry_at <= clock_timestamp())
              AND (s.auto_stop_seconds IS NULL
                OR EXISTS (SELECT 1 FROM server_use u WHERE u.server_id = s.id AND u.used_at > s.asleep_at))
              AND ${spentOf(sql`s.project_id`)} IS NULL`
      )()
    } as const
  })
}) {}
