import { Data, Schema } from "effect"

/** Identifies a process as far as possible: process numbers are reused, also after a boot and in other containers. */
export const ProcessIdentity = Schema.Struct({
  hostName: Schema.String,
  pid: Schema.Int,
  /** When the process started, in ticks since boot; empty where the system doesn't provide it. */
  processStart: Schema.String,
  bootId: Schema.String,
  /** Process numbers are comparable only within one PID namespace. */
  pidNamespace: Schema.String
})
export type ProcessIdentity = typeof ProcessIdentity.Type

/** A row of hosts: a process that serves the installation. */
export const Host = Schema.Struct({
  ...ProcessIdentity.fields,
  /** Identifies the home: the same after a restart. */
  id: Schema.String,
  /** Identifies one process's tenure of the lease. */
  session: Schema.String,
  /** Ids of the keys that can open stored secrets; the first is the one that seals. */
  keyIds: Schema.Array(Schema.String),
  startedAt: Schema.DateFromSelf,
  leaseUntil: Schema.DateFromSelf,
  /** Whether the lease has not expired, by the database's clock. */
  isLive: Schema.Boolean
})
export type Host = typeof Host.Type

/** Another host serves the installation. The message names that host and says what to do. */
export class LeaseError extends Data.TaggedError("LeaseError")<{ readonly message: string }> {}

const second = (time: Date) => `${time.toISOString().slice(0, 19)}Z`

export const describeHost = ({ hostName, id, leaseUntil, pid, startedAt }: Host) =>
  `${id} on ${hostName} (process ${pid}) has served it since ${second(startedAt)}, by a lease until ${
    second(leaseUntil)
  }`
