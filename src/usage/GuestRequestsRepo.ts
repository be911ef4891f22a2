import { one, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"

/** Requests that one guest asks for at one server. */
export interface GuestTaking {
  readonly serverId: string
  readonly guest: string
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string
  /** What is allowed; null: any number. */
  readonly aMinute: number | null
  readonly aMonth: number | null
  /** Seconds of the month for which the guest may keep the server awake. */
  readonly aTime: number | null
  /** Requests that wait. */
  readonly wanted: number
  /** Requests to take in advance while there is plenty. */
  readonly ahead: number
  /** What is left of those taken before. */
  readonly unused: number
}

const Taken = Schema.Struct({
  granted: Schema.NumberFromString,
  /** Null: any number. */
  monthLeft: Schema.NullOr(Schema.NumberFromString),
  timeLeft: Schema.NullOr(Schema.NumberFromString),
  /** Until the minute ends. */
  minuteMillis: Schema.Number,
  /** The end of the owner's period. */
  resetsAt: Schema.DateFromSelf
})
export type GuestTaken = typeof Taken.Type

/** `guest_requests`: what each guest took of a server in the minute and in the owner's period. */
export class GuestRequestsRepo extends Effect.Service<GuestRequestsRepo>()("usage/GuestRequestsRepo", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => ({
    take: one(Taken)(({ aMinute, aMonth, aTime, ahead, day, guest, serverId, unused, wanted }: GuestTaking) =>
      sql`SELECT granted::text, month_left::text, time_left::text, minute_millis, resets_at
        FROM guest_take(${serverId}, ${guest}, ${day}::date, ${aMinute}, ${aMonth}, ${wanted}, ${ahead}, ${unused},
          ${aTime})`
    ),
    /** Those that were not here for longer than any period. */
    forget: run(sql`DELETE FROM guest_requests WHERE minute_start < now() - interval '32 days'`)
  } as const))
}) {}
