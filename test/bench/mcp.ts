/**
 * Calls of a cheap tool over `/mcp`, in turns with a bare server of the SDK that has one tool, in each era of the
 * protocol: calls a second, p95, and processor time a call, which hardly depends on what else the machine does. Then what
 * the list of tools weighs.
 *
 *   npm run bench mcp [calls a round [connections]]
 */
import { embedded } from "#sql/Embedded.ts"
import { Effect, Exit, Scope } from "effect"
import { fork } from "node:child_process"
import { once } from "node:events"
import { Agent, request } from "node:http"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { signUp } from "../support/account.ts"
import { send, type Sent } from "../support/http.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { rpcOf, sessionPost, statelessPost } from "../support/stateless.ts"
import { nodeOptions } from "./support/node-options.ts"
import { processorTime } from "./support/processor.ts"
import { startProgram } from "./support/program.ts"

const calls = Number(process.argv[2] ?? "1000")
const connections = Number(process.argv[3] ?? "8")
const rounds = 5
const agent = new Agent({ keepAlive: true, maxSockets: connections })

/** The text of an answer with 200; anything else fails. */
const ask = (url: string, { body, headers }: Sent, token: string) =>
  new Promise<string>((resolve, reject) => {
    const sent = JSON.stringify(body)
    const all = {
      ...headers,
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(sent)
    }
    request(url, { agent, method: "POST", headers: all }, (answer) =>
      void text(answer).then((body) =>
        answer.statusCode === 200 && rpcOf({ text: body }).error === undefined ? resolve(body) : reject(new Error(body))
      )).on("error", reject).end(sent)
  })

const scope = Effect.runSync(Scope.make())
const postgres = await Effect.runPromise(Scope.extend(embedded(temporaryDirectory("bench-mcp"), {}), scope))
const socket = encodeURIComponent(postgres.host)
const database = `postgres://${postgres.user}@localhost/${postgres.database}?host=${socket}&port=${postgres.port}`
const program = await startProgram(temporaryDirectory("bench-mcp-home"), database)
const { token } = await signUp({
  databaseUrl: database,
  request: <Body = unknown>(method: string, path: string, sent: Sent = {}) =>
    send<Body>(program.url, method, path, sent)
}, "enterprise")

const startBare = async (sdk: string) => {
  const execArgv = [...process.execArgv, ...nodeOptions]
  const child = fork(join(import.meta.dirname, "mcp/bare.program.ts"), [sdk], { execArgv })
  const [port] = await once(child, "message") as [number]
  return { child, url: `http://127.0.0.1:${port}/mcp` }
}

interface Contestant {
  readonly name: string
  readonly url: string
  readonly pid: number
  readonly call: Sent
}
interface Round {
  readonly perSecond: number
  readonly p95: number
  readonly processor: number
}

const sorted = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)
const median = (values: ReadonlyArray<number>) => sorted(values)[values.length >> 1]!

const round = async ({ call, pid, url }: Contestant): Promise<Round> => {
  const times: Array<number> = []
  let left = calls
  const [began, before] = [performance.now(), processorTime(pid)]
  await Promise.all(Array.from({ length: connections }, async () => {
    while (left-- > 0) {
      const started = performance.now()
      await ask(url, call, token)
      times.push(performance.now() - started)
    }
  }))
  return {
    perSecond: calls / (performance.now() - began) * 1000,
    p95: sorted(times)[Math.floor(times.length * 0.95)]!,
    processor: (processorTime(pid) - before) / calls
  }
}

const compare = async (contestants: ReadonlyArray<Contestant>) => {
  // Until what is called often is compiled.
  for (const contestant of contestants) await round(contestant)
  const results = new Map(contestants.map(({ name }) => [name, [] as Array<Round>]))
  for (let turn = 0; turn < rounds; turn++) {
    for (const contestant of contestants) results.get(contestant.name)!.push(await round(contestant))
  }
  const [bare] = [...results.values()] as [Array<Round>]
  for (const [name, all] of results) {
    const of = (key: keyof Round) => median(all.map((one) => one[key]))
    const times = (key: keyof Round) => (of(key) / median(bare.map((one) => one[key]))).toFixed(2)
    console.log(
      `  ${name}: ${of("perSecond").toFixed(0)}/s (× ${times("perSecond")}), p95 ${of("p95").toFixed(1)} ms ` +
        `(× ${times("p95")}), ${of("processor").toFixed(2)} ms of processor time a call (× ${times("processor")})`
    )
  }
}

const eras = [["2025-11-25", "1", sessionPost], ["2026-07-28", "2", statelessPost]] as const
for (const [revision, sdk, post] of eras) {
  const bare = await startBare(sdk)
  const call = (name: string, args = {}) => post({ method: "tools/call", params: { name, arguments: args } })
  const url = `${program.url}/mcp`
  console.log(`${revision}: ${calls} calls, ${connections} connections, medians of ${rounds} rounds`)
  await compare([
    { name: "bare server, echo", url: bare.url, pid: bare.child.pid!, call: call("echo", { text: "hello" }) },
    { name: "/mcp, whoami", url, pid: program.child.pid!, call: call("whoami") }
  ])
  const list = await ask(url, post({ method: "tools/list" }), token)
  const { tools } = rpcOf({ text: list }).result as { readonly tools: ReadonlyArray<unknown> }
  const bytes = Buffer.byteLength(JSON.stringify(tools))
  console.log(`  tools/list: ${tools.length} tools, ${bytes} bytes, some ${Math.round(bytes / 3.5)} tokens`)
  bare.child.disconnect()
}

agent.destroy()
const ended = once(program.child, "exit")
program.child.kill("SIGTERM")
await ended
await Effect.runPromise(Scope.close(scope, Exit.void))
