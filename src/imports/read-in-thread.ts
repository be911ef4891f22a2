import { Either } from "effect"
import { parentPort } from "node:worker_threads"
import { type Upload } from "./Import.ts"
import { type Fault, type Reading } from "./plan.ts"
import { read } from "./read.ts"

/** What the thread answers: an `Either` loses its methods on the way. */
export type Read = { readonly reading: Reading } | { readonly fault: Fault }

const answer = (upload: Upload): { readonly ok: Read } | { readonly error: string } => {
  try {
    const ok = Either.match(read(upload), {
      onLeft: (fault) => ({ fault }),
      onRight: (reading) => ({ reading })
    })
    return { ok }
  } catch (error) {
    return { error: error instanceof Error ? error.stack ?? error.message : String(error) }
  }
}

parentPort?.on("message", (upload: Upload) => parentPort?.postMessage(answer(upload)))
