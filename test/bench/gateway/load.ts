import { spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { otherCores, startCommand, startProgram } from "./processes.ts"

export interface Result {
  readonly total: number
  readonly perSecond: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
}

export interface Load {
  readonly port: number
  readonly path: string
  readonly token: string
  /** `Mcp-Session-Id`. */
  readonly session?: string | undefined
  readonly seconds: number
  readonly connections: number
}

/** Each request has an id of its own: some proxies answer by it. */
const [before, after] = [`{"jsonrpc":"2.0","id":`, `,"method":"tools/call","params":{"name":"x","arguments":{}}}`]

const hasWrk = spawnSync("wrk", ["-v"]).error === undefined
export const loadName = hasWrk ? "wrk, one thread" : "a load in Node (wrk is not installed)"

const script = ({ session, token }: Load) =>
  `wrk.method = "POST"
wrk.headers["Host"] = "berth.test"
wrk.headers["Authorization"] = "Bearer ${token}"
wrk.headers["Accept"] = "application/json, text/event-stream"
wrk.headers["Mcp-Protocol-Version"] = "2025-11-25"
wrk.headers["Content-Type"] = "application/json"
${session === undefined ? "" : `wrk.headers["Mcp-Session-Id"] = "${session}"`}
local id = os.time() % 10000 * 100000
request = function()
  id = id + 1
  return wrk.format(nil, nil, nil, '${before}' .. id .. '${after}')
end
done = function(summary, latency)
  if summary.errors.status > 0 or summary.errors.read > 0 then io.write("failed\\n") end
  local at = function(share) return latency:percentile(share) end
  io.write(string.format("%d %d %d %d\\n", summary.requests, summary.duration, at(50), at(99)))
end
`

const byWrk = async (home: string, load: Load): Promise<Result> => {
  const { connections, path, port, seconds } = load
  const file = join(home, "load.lua")
  writeFileSync(file, script(load))
  const url = `http://127.0.0.1:${port}${path}`
  const child = startCommand(
    "wrk",
    ["-t1", `-c${connections}`, `-d${seconds}s`, "-s", file, url],
    otherCores
  )
  const said = await text(child.stdout!)
  if (said.includes("failed")) throw new Error(`Not every request to ${url} was answered with 200:\n${said}`)
  const [total = 0, micros = 0, p50 = 0, p99 = 0] = said.trim().split("\n").at(-1)!.split(" ").map(Number)
  return { total, perSecond: total / micros * 1e6, p50: p50 / 1000, p99: p99 / 1000 }
}

/** Requests on so many connections, each as soon as the one before is answered. */
export const put = async (home: string, load: Load): Promise<Result> => {
  if (hasWrk) return byWrk(home, load)
  const { connections, path, port, seconds, session = "", token } = load
  const args = [port, path, token, seconds, connections, session, before, after].map(String)
  return (await startProgram<Result>("load", otherCores, ...args)).said
}
