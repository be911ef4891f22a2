import { connectTo, machineHost } from "#src/machines/host.ts"
import { type MachineAddress } from "#src/machines/Machines.ts"
import { Effect } from "effect"
import { request } from "node:http"
import { type Probe } from "./health.ts"

const largest = 65_536

/** A relay takes the connection and drops it when nothing listens behind it; that is a refusal to us. */
const reason = (error: NodeJS.ErrnoException) => {
  switch (error.code) {
    case "ECONNREFUSED":
    case "ENOENT":
    case "ECONNRESET":
    case "EPIPE":
      return "connection refused"
    default:
      return error.code?.startsWith("HPE_") ? "it does not speak HTTP" : error.message
  }
}

/**
 * One GET over a connection of its own, by the Host that requests through the gateway have. Never fails: what went
 * wrong is what it saw.
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
    const done = (seen: Probe) => {
      clearTimeout(timer)
      resume(Effect.succeed(seen))
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
        // What goes on without end is not the small JSON document that is asked for.
        if (body.length > largest) done({ _tag: "Answered", status: response.statusCode ?? 0, body: "" })
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
