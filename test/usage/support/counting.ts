import { Effect } from "effect"
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"

export type Question =
  | { readonly _tag: "Month"; readonly account: string; readonly limit: number; readonly requests: number }
  | { readonly _tag: "Minute"; readonly key: string; readonly limit: number; readonly requests: number }

export interface Answer {
  /** Of the requests that were asked for at once. */
  readonly passed: number
}

const answered = async (child: ChildProcess) => {
  const [answer] = await Promise.race([
    once(child, "message") as Promise<[Answer]>,
    once(child, "exit").then(([code]) => Promise.reject(new Error(`The process ended with ${code}`)))
  ])
  return answer.passed
}

/** A process of its own that counts. It ends with the scope, unless it was killed before. */
export const counter = (variables: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const path = new URL("./counting.program.ts", import.meta.url).pathname
      const child = fork(path, { execArgv: ["--import", "tsx"], env: { ...process.env, ...variables } })
      await answered(child)
      const end = async (signal: "SIGTERM" | "SIGKILL") => {
        if (child.exitCode !== null || child.signalCode !== null) return
        child.kill(signal)
        await once(child, "exit")
      }
      return {
        ask: (question: Question) => {
          child.send(question)
          return answered(child)
        },
        end
      }
    }),
    ({ end }) => Effect.promise(() => end("SIGTERM"))
  )
