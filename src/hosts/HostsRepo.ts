import { anyRow, many, run, transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { Host, type LeaseError } from "./Host.ts"

/** Any number will do, as long as every version of the program uses the same. */
const lock = 0x62657204

type NewHost = Omit<Host, "startedAt" | "leaseUntil" | "isLive">

/** The leases of hosts. All times are the database's: the clocks of hosts may differ. */
export class HostsRepo extends Effect.Service<HostsRepo>()("hosts/HostsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    // The clock of the moment, and not of the transaction's beginning: it may have waited.
    const all = many(Host)(() => sql`SELECT *, lease_until > clock_timestamp() AS is_live FROM hosts FOR UPDATE`)
    const until = (seconds: number) => sql`clock_timestamp() + make_interval(secs => ${seconds})`

    const replace = (
      { bootId, hostName, id, keyIds, pid, pidNamespace, processStart, session }: NewHost,
      seconds: number
    ) =>
      Effect.zipRight(
        sql`DELETE FROM hosts`,
        sql`INSERT INTO hosts (id, session, host_name, pid, process_start, boot_id, pid_namespace, key_ids, started_at,
              lease_until)
            VALUES (${id}, ${session}, ${hostName}, ${pid}, ${processStart}, ${bootId}, ${pidNamespace},
              ARRAY(SELECT jsonb_array_elements_text(${JSON.stringify(keyIds)}::jsonb)), clock_timestamp(), ${
          until(seconds)
        })`
      )

    return {
      /** Hosts whose lease runs. */
      live: many(Host)(() => sql`SELECT *, true AS is_live FROM hosts WHERE lease_until > clock_timestamp()`)(),
      /**
       * Puts the host in the place of all others, unless `judge` refuses that. One at a time; the others' rows are locked
       * until the end, so that none of them renews its lease meanwhile.
       */
      take: (host: NewHost, seconds: number, judge: (others: ReadonlyArray<Host>) => Effect.Effect<void, LeaseError>) =>
        sql`SELECT pg_advisory_xact_lock(${lock})`.pipe(
          Effect.zipRight(all()),
          Effect.flatMap(judge),
          Effect.zipRight(replace(host, seconds)),
          transactionally(sql),
          Effect.asVoid
        ),
      /** False when the lease is another's by now. One that ran out, and that nobody took, goes on. */
      renew: (session: string, seconds: number) =>
        anyRow(sql`UPDATE hosts SET lease_until = ${until(seconds)} WHERE session = ${session} RETURNING id`),
      release: (session: string) => run(sql`DELETE FROM hosts WHERE session = ${session}`)
    } as const
  })
}) {}
