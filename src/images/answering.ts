import { parentPort, workerData } from "node:worker_threads"
import { type ImageErrorReason } from "./ImageError.ts"

/** What a thread answers. An error of the file system has no reason. */
export type Answer<A> =
  | { readonly ok: A }
  | { readonly error: { readonly reason: ImageErrorReason | undefined; readonly message: string } }

const reasonOf = (error: Error) => "reason" in error ? error.reason as ImageErrorReason : undefined

/** Does what the thread was started for, and says what came of it. Whoever wants it to stop ends the thread. */
export const answering = async <T>(job: (task: T, signal: AbortSignal) => Promise<unknown>) => {
  const answer = await job(workerData as T, new AbortController().signal).then(
    (ok): Answer<unknown> => ({ ok }),
    (error: unknown): Answer<unknown> => ({
      error: error instanceof Error
        ? { reason: reasonOf(error), message: error.message }
        : { reason: undefined, message: String(error) }
    })
  )
  parentPort?.postMessage(answer)
}
