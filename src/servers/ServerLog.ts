import { Id } from "#src/shared/ids.ts"
import { LimitArgument, QueryLimit } from "#src/shared/paging.ts"
import { optional, Query, Text, Timestamp } from "#src/shared/text.ts"
import { Schema } from "effect"
import { ServerId } from "./Server.ts"

export const LogLevel = Schema.Literal("debug", "info", "warn", "error")
export type LogLevel = typeof LogLevel.Type

/** Contract: Platform resources, a log entry. */
export const LogEntry = Schema.Struct({
  id: Id("LogEntryId", "Log entry id, log_ and a ULID"),
  serverId: ServerId,
  level: LogLevel,
  message: Schema.String,
  timestamp: Timestamp
}).annotations({ title: "LogEntry" })

export const LogEntryRow = Schema.Struct({ ...LogEntry.fields, timestamp: Schema.DateFromSelf })

export const LogPage = Schema.Struct({
  items: Schema.Array(LogEntry),
  hasMore: Schema.Boolean,
  cursor: Schema.NullOr(Schema.String).annotations({ description: "Pass as before to read older entries" })
})

const filters = {
  level: optional(LogLevel),
  search: optional(Text(1000)),
  before: optional(Schema.String)
}
const maxEntries = 200
const defaultEntries = 50

/** `GET /v1/servers/:serverId/logs` (contract: Logs query). */
export const LogQuery = Query({
  ...filters,
  limit: Schema.optionalWith(QueryLimit(maxEntries), { exact: true, default: () => defaultEntries })
})
export const logArguments = { ...filters, limit: LimitArgument(maxEntries, defaultEntries) }
export interface LogRequest {
  readonly level?: LogLevel
  readonly search?: string
  readonly before?: string
  readonly limit: number
}
