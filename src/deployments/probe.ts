import { connectTo, machineHost } from "#src/machines/host.ts"
import { type MachineAddress } from "#src/machines/Machines.ts"
import { withoutPlace } from "#src/machines/socket-failure.ts"
import { Effect } from "effect"
import { request } from "node:http"
import { type Probe } from "./health.ts"

/** Characters of a body that are read. */
const largest = 65_536

/** Why nothing answers where nothing listens. */
export const refused = "connection refused"

/** A relay accepts the connection and drops it when nothing listens behind it: that counts as refused, too. */
const reason = (error: NodeJS.ErrnoException) => {
  switch (error.code) {
    case "ECONNREFUSED":
    case "ENOENT":
    case "ECONNRESET":
    case "EPIPE":
      return refused
    default:
      return error.code?.startsWith("HPE_") ? "it does not speak HTTP" : withoutPlace(error).message
  }
}

/**
 * One GET over a new connection, with the same Host as requests through the gateway. Never fails: an error is part of
 * the result.
 */
export const probe = (
  address: MachineAddress,
  port: number,
  path: string,
  timeoutMs: number
): Effect.Effect<Probe> =>
  Effect.async<Probe>((resume) => {
    let silent = false
    const outgoing = request({
      ...connectTo(address),
      path,
      agent: false,
      headers: { host: machineHost(port), accept: "application/json", "user-agent": "berth-health-check" }
    })
    const timer = setTimeout(() => {
      silent = true
      outgoing.destroy()
    }, timeoutMs)
    const done = (result: Probe) => {
      clearTimeout(timer)
      resume(Effect.succeed(result))
      outgoing.destroy()
    }
    const failed = (error: NodeJS.ErrnoException) =>
      done(silent ? { _tag: "Silent" } : { _tag: "NotListening", why: reason(error) })
    outgoing.on("error", failed)
    outgoing.on("response", (response) => {
      let body = ""
      response.setEncoding("utf8")
      response.on("data", (chunk: string) => {
        body += chunk
        // Bounds an endless body, which is not the expected small JSON document.
        if (body.length > largest) {
          done({ _tag: "Answered", status: response.statusCode ?? 0, body: "", isTooLarge: true })
        }
      })
      response.on("error", failed)
      response.on("aborted", () => done({ _tag: "Silent" }))
      response.on("end", () => done({ _tag: "Answered", status: response.statusCode ?? 0, body }))
    })
    outgoing.end()
    return Effect.sync(() => {
      clearTimeout(timer)
      outgoing.destroy()
    })
  })
