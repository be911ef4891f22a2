import { Context, Effect } from "effect"

/** Each completes when the end of the database has had its time; the process may set shorter ones. */
export class StopTimes extends Context.Reference<StopTimes>()("sql/StopTimes", {
  defaultValue: (): Readonly<Record<"connections" | "server", Effect.Effect<void>>> => ({
    connections: Effect.sleep("2 seconds"),
    /** Of a fast shutdown of the embedded server. */
    server: Effect.sleep("20 seconds")
  })
}) {}
