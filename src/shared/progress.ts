import { type Effect } from "effect"

/** How far a long operation has come: `step` of `total`, and a sentence. */
export interface Progress {
  readonly step: number
  readonly total: number
  readonly message: string
}

/** Who is told of it. */
export type Report = (progress: Progress) => Effect.Effect<void>
