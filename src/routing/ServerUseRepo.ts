import { run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { wantedChannel } from "./wanted-channel.ts"

/** What a gateway has open of a server, which was used just now. */
export interface Use {
  readonly serverId: string
  readonly open: number
}

/** What gateways tell the host of: the tables `gateways` and `server_use`. Times are the database's. */
export class ServerUseRepo extends Effect.Service<ServerUseRepo>()("routing/ServerUseRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    return {
      report: (gateway: string, uses: ReadonlyArray<Use>) =>
        run(sql`INSERT INTO server_use (server_id, gateway, open, used_at)
            SELECT r."serverId", ${gateway}, r.open, clock_timestamp()
            FROM json_to_recordset(${JSON.stringify(uses)}::json) AS r ("serverId" text, open integer) ORDER BY 1
            ON CONFLICT (server_id, gateway) DO UPDATE SET open = excluded.open, used_at = excluded.used_at`),
      /** Says that the gateway is alive, and has reported everything that it knew a moment ago. */
      beat: (gateway: string) =>
        run(sql`INSERT INTO gateways (id, seen_at) VALUES (${gateway}, clock_timestamp())
            ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`),
      leave: (gateway: string) => run(sql`DELETE FROM gateways WHERE id = ${gateway}`),
      /** Asks for a server that sleeps: the row first, so that nobody puts it to sleep again, then the call. */
      want: (gateway: string, serverId: string) =>
        run(sql`WITH used AS (
              INSERT INTO server_use (server_id, gateway, used_at) VALUES (${serverId}, ${gateway}, clock_timestamp())
              ON CONFLICT (server_id, gateway) DO UPDATE SET used_at = excluded.used_at
            )
            SELECT pg_notify(${wantedChannel}, ${serverId})`),
      /** Drops what no decision needs: gateways long gone, and uses longer ago than any server stays awake for. */
      forget: run(sql`WITH gone AS (DELETE FROM gateways WHERE seen_at < clock_timestamp() - interval '1 hour')
        DELETE FROM server_use u WHERE u.used_at < clock_timestamp() - interval '2 days'
          AND NOT EXISTS (SELECT 1 FROM gateways g WHERE g.id = u.gateway AND u.open > 0)`)
    } as const
  })
}) {}
