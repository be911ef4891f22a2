import { many, run, transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"

/** A stretch of a machine's running time, in milliseconds before now: hosts' clocks differ from the database's. */
export interface Stretch {
  readonly machine: string
  readonly serverId: string
  readonly startedAgo: number
  /** 0 while it runs. */
  readonly endedAgo: number
}

const Part = Schema.Struct({ accountId: Schema.String, day: Schema.String, milliseconds: Schema.NumberFromString })

/** `machine_metering`, and the machine time in the tables of usage: the account's period before its days (UsageRepo.ts). */
export class MachineMeteringRepo extends Effect.Service<MachineMeteringRepo>()("usage/MachineMeteringRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const rowsOf = (stretches: ReadonlyArray<Stretch>) =>
      sql`json_to_recordset(${JSON.stringify(stretches)}::json)
        AS r(machine text, "serverId" text, "startedAgo" float8, "endedAgo" float8)`

    /**
     * Locks the machines: whoever counts them next sees until when they were counted. Servers of new ones are locked
     * before: one that is being deleted has none.
     */
    const lock = (stretches: ReadonlyArray<Stretch>) =>
      Effect.zipRight(
        run(sql`INSERT INTO machine_metering (machine, server_id, counted_until)
          SELECT r.machine, s.id, '-infinity' FROM ${rowsOf(stretches)} JOIN servers s ON s.id = r."serverId"
          WHERE NOT EXISTS (SELECT FROM machine_metering m WHERE m.machine = r.machine)
          ORDER BY s.id FOR KEY SHARE OF s ON CONFLICT DO NOTHING`),
        run(sql`SELECT FROM machine_metering WHERE machine = ANY(${stretches.map(({ machine }) => machine)})
          ORDER BY machine FOR UPDATE`)
      )

    /** Moves `counted_until` to the end of each stretch, and returns what was passed over, by account and UTC day. */
    const advance = many(Part)((stretches: ReadonlyArray<Stretch>) =>
      sql`WITH at AS MATERIALIZED (SELECT clock_timestamp() AS now), spans AS (
          SELECT m.machine, p.account_id,
            greatest(m.counted_until, at.now - r."startedAgo" * interval '1 millisecond') AS starts_at,
            at.now - r."endedAgo" * interval '1 millisecond' AS ends_at
          FROM at, ${rowsOf(stretches)} JOIN machine_metering m ON m.machine = r.machine
            JOIN servers s ON s.id = m.server_id JOIN projects p ON p.id = s.project_id
        ), counted AS (
          UPDATE machine_metering m SET counted_until = spans.ends_at FROM spans
          WHERE m.machine = spans.machine AND spans.starts_at < spans.ends_at
          RETURNING spans.*
        )
        SELECT account_id, day::date::text AS day, round(sum(extract(epoch FROM
            least(ends_at, (day + interval '1 day') AT TIME ZONE 'UTC') - greatest(starts_at, day AT TIME ZONE 'UTC')
          )) * 1000)::bigint::text AS milliseconds
        FROM counted, generate_series(date_trunc('day', starts_at AT TIME ZONE 'UTC'), ends_at AT TIME ZONE 'UTC',
          interval '1 day') AS day
        GROUP BY 1, 2`
    )

    const add = Effect.fnUntraced(function*(parts: ReadonlyArray<typeof Part.Type>) {
      const rows = sql`json_to_recordset(${JSON.stringify(parts)}::json)
        AS r("accountId" text, day date, milliseconds bigint)`
      yield* run(sql`INSERT INTO usage (account_id, period, compute_milliseconds)
        SELECT u.id, usage_period(u.period_start, r.day), sum(r.milliseconds)
        FROM ${rows} JOIN users u ON u.id = r."accountId" GROUP BY 1, 2 ORDER BY 1, 2
        ON CONFLICT (account_id, period)
        DO UPDATE SET compute_milliseconds = usage.compute_milliseconds + excluded.compute_milliseconds`)
      yield* run(sql`INSERT INTO usage_days (account_id, day, compute_milliseconds)
        SELECT r."accountId", r.day, r.milliseconds FROM ${rows} ORDER BY 1, 2
        ON CONFLICT (account_id, day)
        DO UPDATE SET compute_milliseconds = usage_days.compute_milliseconds + excluded.compute_milliseconds`)
    })

    return {
      /** Counts what was not counted yet of each stretch, in one transaction. */
      count: (stretches: ReadonlyArray<Stretch>) =>
        stretches.length === 0 ? Effect.void : transactionally(sql)(Effect.gen(function*() {
          yield* lock(stretches)
          yield* add(yield* advance(stretches))
        })),
      /** Forgets machines that are gone for long. Those that a host has can have been away with it. */
      forget: (but: ReadonlyArray<string>) =>
        run(sql`DELETE FROM machine_metering
          WHERE counted_until < now() - interval '1 day' AND machine <> ALL(${but})`)
    } as const
  })
}) {}
