import { bundledProgram } from "#src/shared/bundled-program.ts"
import { Worker } from "node:worker_threads"
import { ImageError } from "./ImageError.ts"
import { type Spent } from "./layers.ts"
import type { Answer, Task } from "./unpack-in-thread.ts"

/**
 * Unpacks layers into a directory, on a thread of their own: each file of an image is a few calls of the file system, and
 * the thread that serves requests would make them all. Rejects only once nothing is written any more.
 */
export const unpackLayers = (task: Task, signal: AbortSignal): Promise<Spent> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const thread = new Worker(bundledProgram("unpack-thread.js"), { workerData: task })
    const stop = () => void thread.terminate()
    let failure: unknown
    signal.addEventListener("abort", stop)
    thread.on("message", (answer: Answer) => {
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
