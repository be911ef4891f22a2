import { Context, Data, type Effect } from "effect"
import { type Finding } from "./Finding.ts"

/** Why an image was not scanned, or not in full: then nothing is known of it. */
export class ScanError extends Data.TaggedError("ScanError")<{ readonly message: string }> {}

export interface Report {
  readonly findings: ReadonlyArray<Finding>
  /** What the scanner did not look at, in sentences for the server's log. */
  readonly notes: ReadonlyArray<string>
}

/** What finds vulnerabilities in an image of the local store. */
export interface Driver {
  readonly name: "trivy" | "osv"
  /** For people: Trivy, OSV. */
  readonly title: string
  readonly scan: (digest: string) => Effect.Effect<Report, ScanError>
}

/** Which driver there is. It never waits for longer than a moment. */
export class Scanner extends Context.Tag("scanning/Scanner")<Scanner, {
  /** Undefined when there is none. */
  readonly driver: Effect.Effect<Driver | undefined>
  /** The same without waiting: undefined also when there is none yet. */
  readonly current: Effect.Effect<Driver | undefined>
  /** Why there is none. */
  readonly absence: Effect.Effect<string>
}>() {}
