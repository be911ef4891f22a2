/**
 * What a storm of log-ins does to everybody else: how long a static document and the gateway's 401 take while 48 clients
 * with wrong passwords, each from addresses of its own, log in without a pause, beside the same with nobody else there.
 *
 *   npm run bench logins [seconds a round]
 */
import { embedded } from "#sql/Embedded.ts"
import { Effect } from "effect"
import { fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { Agent, request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { newEmail, signUp } from "../support/account.ts"
import { type Answer, freshAddress, send, type Sent } from "../support/http.ts"
import { startProgram } from "./support/program.ts"

const clients = 48
const rounds = 5

/** The storm, in a process of its own; what it was answered, by status. */
const storm = async () => {
  const [url = "", seconds = ""] = process.argv.slice(3)
  const agent = new Agent({ keepAlive: true })
  const until = performance.now() + Number(seconds) * 1000
  const statuses: Record<number, number> = {}
  const logIn = (): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { "content-type": "application/json", "x-forwarded-for": freshAddress() }
      request(`${url}/v1/auth/login`, { method: "POST", agent, headers }, (answer) => {
        answer.resume().on("end", () => resolve(answer.statusCode ?? 0))
      }).on("error", reject).end(JSON.stringify({ email: newEmail(), password: "wrong password" }))
    })
  await Promise.all(Array.from({ length: clients }, async () => {
    while (performance.now() < until) {
      const status = await logIn()
      statuses[status] = (statuses[status] ?? 0) + 1
      // Whoever is told to come later comes later, if not as late as it was told.
      if (status === 503) await sleep(100)
    }
  }))
  process.send?.(statuses)
  process.exit()
}

const at = (values: ReadonlyArray<number>, part: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))]!
const median = (values: ReadonlyArray<number>) => at(values, 0.5)

/** One request after the other, a hundred a second at most. */
const latencies = async (url: string, path: string, status: number, seconds: number) => {
  const taken: Array<number> = []
  const until = performance.now() + seconds * 1000
  while (performance.now() < until) {
    const start = performance.now()
    const answer = await send(url, "GET", path, { headers: { "x-forwarded-for": freshAddress() } })
    if (answer.status !== status) throw new Error(`${path}: ${answer.status} ${answer.text}`)
    taken.push(performance.now() - start)
    await sleep(10)
  }
  return { p50: at(taken, 0.5), p95: at(taken, 0.95) }
}

const measure = async (databaseUrl: string, home: string) => {
  const seconds = Number(process.argv[2] ?? "3")
  const { child: program, url } = await startProgram(home, databaseUrl)
  const door = <Body = unknown>(method: string, path: string, sent: Sent = {}): Promise<Answer<Body>> =>
    send<Body>(url, method, path, { ...sent, headers: { "x-forwarded-for": freshAddress(), ...sent.headers } })
  const owner = await signUp({ databaseUrl, request: door }, "pro")
  const { slug } = await owner.server((await owner.project()).id)
  const asked = {
    document: ["/.well-known/oauth-authorization-server", 200],
    gateway: [`/s/${slug}/mcp`, 401]
  } as const
  const both = async () => {
    const document = await latencies(url, ...asked.document, seconds)
    return { document, gateway: await latencies(url, ...asked.gateway, seconds) }
  }
  await both()
  const rows: Array<Record<"quiet" | "storm", Awaited<ReturnType<typeof both>>>> = []
  for (let round = 1; round <= rounds; round++) {
    const quiet = await both()
    const child = fork(import.meta.filename, ["storm", url, String(seconds * 2 + 1)], { execArgv: process.execArgv })
    const answered = once(child, "message")
    await sleep(500)
    rows.push({ quiet, storm: await both() })
    const [statuses] = await answered as [Record<number, number>]
    const cells = Object.entries(rows.at(-1)!).map(([name, { document, gateway }]) =>
      `${name}: document p50 ${document.p50.toFixed(1)} p95 ${document.p95.toFixed(1)}, ` +
      `gateway p50 ${gateway.p50.toFixed(1)} p95 ${gateway.p95.toFixed(1)} ms`
    )
    console.log(`round ${round}: ${cells.join("; ")}; log-ins by status ${JSON.stringify(statuses)}`)
  }
  for (const what of ["document", "gateway"] as const) {
    const ratio = (part: "p50" | "p95") => median(rows.map((row) => row.storm[what][part] / row.quiet[what][part]))
    console.log(`${what}: in the storm p50 × ${ratio("p50").toFixed(1)}, p95 × ${ratio("p95").toFixed(1)}`)
  }
  program.kill("SIGTERM")
  await once(program, "exit")
}

if (process.argv[2] === "storm") await storm()
else {
  const home = mkdtempSync(join(tmpdir(), "berth-bench-"))
  const main = Effect.gen(function*() {
    const { database, host, port, user } = yield* embedded(home, { exclusive: false })
    const databaseUrl = `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`
    yield* Effect.promise(() => measure(databaseUrl, home))
  })
  await Effect.runPromise(Effect.scoped(main)).finally(() => rmSync(home, { recursive: true, force: true }))
}
