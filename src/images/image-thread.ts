import { bundledProgram } from "#src/shared/bundled-program.ts"
import { Worker } from "node:worker_threads"
import { type Answer } from "./answering.ts"
import { ImageError } from "./ImageError.ts"
import { type Spent, type Unpacking } from "./layers.ts"
import { type Packed, type PackTask } from "./pack-layer.ts"

/**
 * Runs a program on a thread of its own: each file of an image is a few calls of the file system, and the thread that
 * serves requests would make them all. Rejects only once nothing is written any more.
 */
const inThread = <T, A>(program: string) => (task: T, signal: AbortSignal): Promise<A> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const thread = new Worker(bundledProgram(program), { workerData: task, execArgv: [] })
    const stop = () => void thread.terminate()
    let failure: unknown
    signal.addEventListener("abort", stop)
    thread.on("message", (answer: Answer<A>) => {
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

/** Writes a layer into a file, on a thread of its own. */
export const packInThread = inThread<PackTask, Packed>("pack-thread.js")

/** Unpacks layers into a directory, on a thread of its own. */
export const unpackInThread = inThread<Unpacking, Spent>("unpack-thread.js")
