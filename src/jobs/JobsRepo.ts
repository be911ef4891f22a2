import { many, maybe, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Option, Schema } from "effect"
import { type Job, JobRecord } from "./Job.ts"

/** `due` is text, because it is compared and a Date would lose digits. */
const Due = Schema.Struct({ due: Schema.NullOr(Schema.String), waitMillis: Schema.Number })
const unclaimed: typeof Due.Type = { due: null, waitMillis: 0 }

/** Records of jobs, and claims of those that one host runs. Due times are the database's: hosts' clocks may differ. */
export class JobsRepo extends Effect.Service<JobsRepo>()("jobs/JobsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const due = maybe(Due)((name: string) =>
      sql`SELECT due_at::text AS due,
              coalesce(greatest(0, extract(epoch FROM due_at - clock_timestamp())) * 1000, 0)::float8 AS wait_millis
            FROM jobs WHERE name = ${name} AND host = ''`
    )
    const claim = maybe(Schema.Struct({ due: Schema.String }).pipe(Schema.pluck("due")))((
      name: string,
      intervalMillis: number,
      due: string | null,
      pauseMillis: number
    ) =>
      sql`INSERT INTO jobs (name, host, interval_millis, due_at)
            VALUES (${name}, '', ${intervalMillis}, clock_timestamp() + ${pauseMillis} * interval '1 millisecond')
            ON CONFLICT (name, host) DO UPDATE SET due_at = excluded.due_at
              WHERE jobs.due_at IS NOT DISTINCT FROM ${due}::timestamptz
            RETURNING due_at::text AS due`
    )

    // Another host may have run the same job since, so only a later run replaces the stored one.
    const record = (records: ReadonlyArray<JobRecord>) =>
      sql`INSERT INTO jobs AS j (name, host, interval_millis, last_run_at, took_millis, failed_at, failure)
          SELECT r.* FROM jsonb_to_recordset(${JSON.stringify(records.map(columnsOf))}::jsonb)
            AS r (name text, host text, interval_millis integer, last_run_at timestamptz, took_millis integer,
              failed_at timestamptz, failure text)
          ON CONFLICT (name, host) DO UPDATE SET interval_millis = excluded.interval_millis, written_at = now(),
            last_run_at = greatest(j.last_run_at, excluded.last_run_at),
            took_millis = CASE WHEN excluded.last_run_at >= coalesce(j.last_run_at, '-infinity')
              THEN excluded.took_millis ELSE j.took_millis END,
            failed_at = greatest(j.failed_at, excluded.failed_at),
            failure = CASE WHEN excluded.failed_at >= coalesce(j.failed_at, '-infinity')
              THEN excluded.failure ELSE j.failure END`

    return {
      /** When the job is due, and the milliseconds until then; 0 when no host has claimed it yet. */
      due: (name: string) => Effect.map(due(name), Option.getOrElse(() => unclaimed)),
      /**
       * Claims a run by compare-and-set on `due`. Returns when the next is due, after the pause; none when another host was
       * faster.
       */
      claim: ({ intervalMillis, name }: Job, due: string | null, pauseMillis: number) =>
        claim(name, intervalMillis ?? 0, due, pauseMillis),
      record: (records: ReadonlyArray<JobRecord>) => run(record(records)),
      /** Deletes jobs that no host has run for a month. */
      forget: run(sql`DELETE FROM jobs WHERE written_at < now() - interval '30 days'`),
      all: many(JobRecord)(() => sql`SELECT * FROM jobs ORDER BY name, host`)()
    } as const
  })
}) {}

const columnsOf = ({ failedAt, failure, host, intervalMillis, lastRunAt, name, tookMillis }: JobRecord) => ({
  name,
  host,
  interval_millis: intervalMillis,
  last_run_at: lastRunAt,
  took_millis: tookMillis,
  failed_at: failedAt,
  failure
})
