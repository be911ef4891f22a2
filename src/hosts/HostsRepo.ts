import { anyRow, many, run, transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { Host, type LeaseError } from "./Host.ts"

/** An arbitrary advisory lock id; all versions of the program must use the same. */
const lock = 0x62657204

type NewHost = Omit<Host, "startedAt" | "leaseUntil" | "isLive">

/** The leases of hosts. All times are the database's: the clocks of hosts may differ. */
export class HostsRepo extends Effect.Service<HostsRepo>()("hosts/HostsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    // clock_timestamp() and not now(): the transaction may have waited for the lock since it began.
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
      /** Hosts whose lease has not expired. */
      live: many(Host)(() => sql`SELECT *, true AS is_live FROM hosts WHERE lease_until > clock_timestamp()`)(),
      /**
       * Replaces all other hosts, unless `check` fails. Serialised; the others' rows stay locked until commit, so that
       * none of them renews its lease meanwhile.
       */
      take: (host: NewHost, seconds: number, check: (others: ReadonlyArray<Host>) => Effect.Effect<void, LeaseError>) =>
        sql`SELECT pg_advisory_xact_lock(${lock})`.pipe(
          Effect.zipRight(all()),
          Effect.flatMap(check),
          Effect.zipRight(replace(host, seconds)),
          transactionally(sql),
          Effect.asVoid
        ),
      /** False when another host has taken the lease. An expired lease that nobody took can be renewed. */
      renew: (session: string, seconds: number) =>
        anyRow(sql`UPDATE hosts SET lease_until = ${until(seconds)} WHERE session = ${session} RETURNING id`),
      release: (session: string) => run(sql`DELETE FROM hosts WHERE session = ${session}`)
    } as const
  })
}) {}
