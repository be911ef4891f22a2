import { type Worker } from "node:cluster"
import { type Family, readMetrics, withLabel } from "./prometheus.ts"

/** What the supervisor of a gateway's processes asks each of them. */
const question = "berth metrics"
/** Milliseconds: a process that does not answer in time is left out of one reading. */
const patience = 2_000

interface Answer {
  readonly type: typeof question
  readonly families: ReadonlyArray<Family>
}

const isAnswer = (message: unknown): message is Answer =>
  typeof message === "object" && message !== null && Reflect.get(message, "type") === question

/** In a process that shares its port with others: answers until it is stopped. */
export const answerSupervisor = () => {
  const answer = (message: unknown) => {
    if (message === question) process.send?.({ type: question, families: readMetrics() } satisfies Answer)
  }
  process.on("message", answer)
  return () => void process.off("message", answer)
}

const ask = (worker: Worker) =>
  new Promise<ReadonlyArray<Family>>((resolve) => {
    const end = (families: ReadonlyArray<Family>) => {
      clearTimeout(timer)
      worker.off("message", hear)
      worker.off("exit", gone)
      resolve(families)
    }
    const hear = (message: unknown) => {
      if (isAnswer(message)) end(withLabel(message.families, ["process", String(worker.id)]))
    }
    const gone = () => end([])
    const timer = setTimeout(gone, patience)
    worker.on("message", hear).on("exit", gone)
    worker.send(question, (error) => error !== null && end([]))
  })

/** The metrics of all of a gateway's processes, each with the number of its process. */
export const metricsOf = async (workers: Iterable<Worker>) => (await Promise.all([...workers].map(ask))).flat()
