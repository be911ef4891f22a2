/**
 * How many requests a second pass the gateway, beside the same requests sent to the machine directly, through nginx,
 * through the barest proxy that Node can be, and through two MCP proxies from npm: ratios, since machines differ; beside
 * them what Node takes without a rule. Then the memory that idle event streams take. The proxies have the first core, load
 * and machine the others; loopback only.
 *
 *   npm run bench gateway [seconds a round [rounds]]
 */
import { join } from "node:path"
import { temporaryDirectory } from "../support/Settings.ts"
import { loadName, put, type Result } from "./gateway/load.ts"
import { startMcpProxies } from "./gateway/mcp-proxies.ts"
import { startNginx } from "./gateway/nginx.ts"
import { otherCores, proxyCore, startProgram } from "./gateway/processes.ts"
import { validating } from "./gateway/validating.ts"
import { residentBytes } from "./support/memory.ts"
import { processorTime } from "./support/processor.ts"

const seconds = Number(process.argv[2] ?? "3")
const rounds = Number(process.argv[3] ?? "5")
const streams = 1_000
const home = temporaryDirectory("bench")
const socketPath = join(home, "machine.sock")

interface Proxy {
  readonly name: string
  readonly port: number
  readonly path: string
  readonly pid: number
  readonly session?: string
}

const machine = await startProgram<number>("machine", otherCores, socketPath)
const gateway = await startProgram<{ port: number; token: string }>("front", proxyCore, socketPath)
const pipe = await startProgram<number>("pipe", proxyCore, socketPath)
const answering = await startProgram<number>("floor", proxyCore, socketPath, "answers")
const passing = await startProgram<number>("floor", proxyCore, socketPath, "undici")
const nginx = await startNginx(home, socketPath)
const { token } = gateway.said

const direct: Proxy = { name: "direct", port: machine.said, path: "/mcp", pid: machine.child.pid! }
const byHttp: ReadonlyArray<Proxy> = [
  ...(nginx === undefined ? [] : [{ name: "nginx", port: nginx.port, path: "/mcp", pid: nginx.worker }]),
  { name: "gateway", port: gateway.said.port, path: "/s/bench/mcp", pid: gateway.child.pid! },
  { name: "bare pipe", port: pipe.said, path: "/mcp", pid: pipe.child.pid! }
]
const floors: ReadonlyArray<Proxy> = [
  { name: "node:http, nothing behind it", port: answering.said, path: "/mcp", pid: answering.child.pid! },
  { name: "node:http and undici, no rules", port: passing.said, path: "/mcp", pid: passing.child.pid! }
]
const proxies = [direct, ...byHttp, ...floors, ...await startMcpProxies()]
const base = nginx === undefined ? "direct" : "nginx"

const sorted = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)
const median = (values: ReadonlyArray<number>) => sorted(values)[values.length >> 1]!

const measure = async (proxy: Proxy, connections: number) => {
  const before = processorTime(proxy.pid)
  const result = await put(home, { ...proxy, token, seconds, connections })
  return { ...result, cpu: (processorTime(proxy.pid) - before) / result.total * 1000 }
}

const compare = async (connections: number) => {
  // Until what is hot is compiled.
  for (const proxy of proxies) await put(home, { ...proxy, token, seconds: seconds + 2, connections })
  const rows = new Map<string, Array<Result & { readonly cpu: number }>>(proxies.map(({ name }) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const proxy of proxies) rows.get(proxy.name)!.push(await measure(proxy, connections))
  }
  console.log(`${connections} connections, ${loadName}; medians of ${rounds} rounds, × of ${base} (least to most)`)
  for (const [name, results] of rows) {
    const of = (key: keyof Result | "cpu", digits: number) =>
      median(results.map((result) => result[key])).toFixed(digits)
    const ratios = sorted(results.map(({ perSecond }, round) => perSecond / rows.get(base)![round]!.perSecond))
    const [least, most] = [ratios[0]!.toFixed(2), ratios.at(-1)!.toFixed(2)]
    console.log(
      `  ${name}: × ${median(ratios).toFixed(2)} (${least} to ${most}), ${of("perSecond", 0)}/s, ` +
        `p50 ${of("p50", 3)}, p99 ${of("p99", 3)} ms, ${of("cpu", 1)} µs of processor time a request`
    )
  }
}

/** What so many event streams that say nothing add to a proxy's memory. */
const idleStreams = async ({ name, path, pid, port }: Proxy) => {
  const before = residentBytes(pid)
  const client = await startProgram("streams", otherCores, String(port), path, token, String(streams))
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  const after = residentBytes(pid)
  const each = ((after - before) / streams / 1024).toFixed(1)
  console.log(`  ${name}: ${(before / 1e6).toFixed(0)} to ${(after / 1e6).toFixed(0)} MB, ${each} KB a stream`)
  client.child.kill()
}

for (const connections of [32, 1]) await compare(connections)
console.log(`${streams} idle event streams, memory`)
for (const proxy of byHttp) await idleStreams(proxy)
const { first, known } = await validating()
console.log(`validating a token: ${known.toFixed(2)} µs; the first time it is seen ${first.toFixed(0)} µs`)
nginx?.stop()
process.exit()
