import { bundledProgram } from "#src/shared/bundled-program.ts"
import { Worker } from "node:worker_threads"
import { ImageError } from "./ImageError.ts"
import type { Answer, Job, Jobs } from "./in-thread.ts"

type Result<K extends keyof Jobs> = Awaited<ReturnType<Jobs[K]>>

/**
 * Unpacks or packs layers on a thread of their own: each file of an image is a few calls of the file system, and the
 * thread that serves requests would make them all. Rejects only once nothing is written any more.
 */
export const inThread = <K extends keyof Jobs>(
  kind: K,
  task: Job<K>["task"],
  signal: AbortSignal
): Promise<Result<K>> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const job: Job<K> = { kind, task }
    const thread = new Worker(bundledProgram("image-thread.js"), { workerData: job, execArgv: [] })
    const stop = () => void thread.terminate()
    let failure: unknown
    signal.addEventListener("abort", stop)
    thread.on("message", (answer: Answer<Result<K>>) => {
      if ("ok" in answer) resolve(answer.ok)
      else {
        const { message, reason } = answer.error
        failure = reason === undefined ? new Error(message) : new ImageError({ reason, message })
      }
    })
    thread.on("error", (error) => {
      failure = error
    })
    thread.on("exit", (code) => {
      signal.removeEventListener("abort", stop)
      reject(signal.aborted ? signal.reason : failure ?? new Error(`the thread ended with code ${code}`))
    })
  })
