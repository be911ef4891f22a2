import { Machines } from "#src/machines/Machines.ts"
import { Effect } from "effect"
import { request } from "node:http"

/** The body of a GET to a machine, by the machine's own address. */
export const getFrom = (machine: string, path: string) =>
  Effect.gen(function*() {
    const state = yield* Effect.flatMap(Machines, (machines) => machines.inspect(machine))
    if (state === undefined) return yield* Effect.dieMessage("no such machine")
    const { address } = state
    const where = address._tag === "Unix" ? { socketPath: address.path } : address
    return yield* Effect.tryPromise(() =>
      new Promise<string>((resolve, reject) => {
        const outgoing = request({ ...where, path, agent: false }, (response) => {
          let body = ""
          response.setEncoding("utf8")
          response.on("data", (chunk: string) => (body += chunk))
          response.on("end", () => resolve(body))
          response.on("error", reject)
        })
        outgoing.on("error", reject)
        outgoing.end()
      })
    )
  })
