import { Data, Schema } from "effect"

/** Tells one process from every other, so far as that can be told: numbers are reused, by boots and containers too. */
export const ProcessIdentity = Schema.Struct({
  hostName: Schema.String,
  pid: Schema.Int,
  /** When the process began, in ticks since the boot; empty where the system does not tell. */
  processStart: Schema.String,
  bootId: Schema.String,
  /** Process numbers mean the same only to processes of one namespace. */
  pidNamespace: Schema.String
})
export type ProcessIdentity = typeof ProcessIdentity.Type

/** A process that serves the installation, as the others see it. */
export const Host = Schema.Struct({
  ...ProcessIdentity.fields,
  /** Of the home: kept over restarts. */
  id: Schema.String,
  /** Of one process's hold of the lease. */
  session: Schema.String,
  /** The keys that it can open stored secrets with, the one that it seals with first. */
  keyIds: Schema.Array(Schema.String),
  startedAt: Schema.DateFromSelf,
  leaseUntil: Schema.DateFromSelf,
  /** Whether the lease runs, by the clock of the database. */
  isLive: Schema.Boolean
})
export type Host = typeof Host.Type

/** Another host serves the installation. The message names it, and says what to do. */
export class LeaseError extends Data.TaggedError("LeaseError")<{ readonly message: string }> {}

const second = (time: Date) => `${time.toISOString().slice(0, 19)}Z`

export const describeHost = ({ hostName, id, leaseUntil, pid, startedAt }: Host) =>
  `${id} on ${hostName} (process ${pid}) has served it since ${second(startedAt)}, by a lease until ${
    second(leaseUntil)
  }`
