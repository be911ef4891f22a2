import { parentPort, workerData } from "node:worker_threads"
import { ImageError, type ImageErrorReason } from "./ImageError.ts"
import { applyLayers } from "./layers.ts"
import { packLayer } from "./pack-layer.ts"

type Parameter = Parameters<typeof applyLayers>

interface Unpack {
  readonly root: Parameter[0]
  readonly layers: Parameter[1]
  readonly limits: Parameter[2]
  readonly most: Parameter[3]
  readonly spent: Parameter[5]
}

const jobs = {
  unpack: ({ layers, limits, most, root, spent }: Unpack, signal: AbortSignal) =>
    applyLayers(root, layers, limits, most, signal, spent),
  pack: packLayer
}
export type Jobs = typeof jobs

/** What a thread is given: it does this and ends. */
export interface Job<K extends keyof Jobs = keyof Jobs> {
  readonly kind: K
  readonly task: Parameters<Jobs[K]>[0]
}

/** What it answers. An error of the file system has no reason. */
export type Answer<A> =
  | { readonly ok: A }
  | { readonly error: { readonly reason: ImageErrorReason | undefined; readonly message: string } }

const run = <K extends keyof Jobs>({ kind, task }: Job<K>) =>
  // Whoever wants it to stop ends the thread.
  (jobs[kind] as (task: Job<K>["task"], signal: AbortSignal) => Promise<unknown>)(task, new AbortController().signal)

const answer = await run(workerData as Job).then(
  (ok): Answer<unknown> => ({ ok }),
  (error: unknown): Answer<unknown> => ({
    error: error instanceof ImageError
      ? { reason: error.reason, message: error.message }
      : { reason: undefined, message: error instanceof Error ? error.message : String(error) }
  })
)
parentPort?.postMessage(answer)
