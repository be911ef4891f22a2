import { type Effect } from "effect"

/** Progress of a long operation: `step` of `total`, and a sentence. */
export interface Progress {
  readonly step: number
  readonly total: number
  readonly message: string
}

/** Receives the progress. */
export type Report = (progress: Progress) => Effect.Effect<void>
