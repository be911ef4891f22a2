import { parentPort, workerData } from "node:worker_threads"
import { ImageError, type ImageErrorReason } from "./ImageError.ts"
import { type applyLayers, applyLayers as apply, type Spent } from "./layers.ts"

type Parameter = Parameters<typeof applyLayers>

/** What a thread is given: it unpacks these layers and ends. */
export interface Task {
  readonly root: Parameter[0]
  readonly layers: Parameter[1]
  readonly limits: Parameter[2]
  readonly most: Parameter[3]
  readonly spent: Spent
}

/** What it answers. An error of the file system has no reason. */
export type Answer =
  | { readonly ok: Spent }
  | { readonly error: { readonly reason: ImageErrorReason | undefined; readonly message: string } }

const { layers, limits, most, root, spent } = workerData as Task

// Whoever wants it to stop ends the thread.
const answer = await apply(root, layers, limits, most, new AbortController().signal, spent).then(
  (ok): Answer => ({ ok }),
  (error: unknown): Answer => ({
    error: error instanceof ImageError
      ? { reason: error.reason, message: error.message }
      : { reason: undefined, message: error instanceof Error ? error.message : String(error) }
  })
)
parentPort?.postMessage(answer)
