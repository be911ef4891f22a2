/**
 * What a machine takes from its start, and from a request that wakes it, until the first answer to a client: that of a
 * package of npm, beside the ready-made server and a plain server of Node's that loads nothing. All three sleep, then one
 * after the other is asked; then each is stopped and started by hand. Processor time is that of the machine: what runs
 * in it and the processes that keep it.
 *
 *   npm run bench packages [rounds [package]]
 */
import { embedded } from "#sql/Embedded.ts"
import { writeLayout } from "#src/images/layout.ts"
import { buildReadyImage } from "#src/ready-image/build-image.ts"
import { nodeRuntime } from "#src/ready-image/node-runtime.ts"
import { Effect } from "effect"
import { once } from "node:events"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { ageServer } from "../deployments/support/age-server.ts"
import { traces } from "../program/support/traces.ts"
import { restaurant } from "../ready-server/config.ts"
import { dataOf, type Server, signUp } from "../support/account.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { doorOf } from "./support/door.ts"
import { processorTime } from "./support/processor.ts"
import { startProgram } from "./support/program.ts"

const rounds = Number(process.argv[2] ?? "9")
const packaged = process.argv[3] ?? "npm:@modelcontextprotocol/server-everything"

const plain =
  `const result = { protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "plain", version: "1" } }
require("node:http").createServer(async (request, response) => {
  let body = ""
  for await (const part of request) body += part
  const answer = request.method === "POST" ? { jsonrpc: "2.0", id: JSON.parse(body).id ?? null, result } : { ok: true }
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer))
}).listen(Number(process.env.PORT))
`

const plainImage = async (layout: string) => {
  const { entries, env, node } = await nodeRuntime()
  await Effect.runPromise(writeLayout(layout, {
    layers: [entries, [{ type: "file", path: "server.cjs", content: plain }]],
    config: { entrypoint: [node, "/server.cjs"], cmd: [], env, workingDir: "/", user: "" }
  }))
  return `oci:${layout}`
}

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } }
}

const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[values.length >> 1]!

const run = async (home: string, databaseUrl: string) => {
  const certificates = process.env["NODE_EXTRA_CA_CERTS"]
  const started = await startProgram(home, databaseUrl, [], {
    // Images of folders are for development.
    NODE_ENV: "development",
    // A registry may be a mirror at a private address.
    ALLOWED_PRIVATE_HOSTS: "registry.npmjs.org",
    ...(certificates === undefined ? {} : { NODE_EXTRA_CA_CERTS: certificates })
  })
  try {
    await measure(started.url, home, databaseUrl)
  } finally {
    started.child.kill("SIGTERM")
    await once(started.child, "exit")
  }
}

const measure = async (url: string, home: string, databaseUrl: string) => {
  const berth = doorOf(url, databaseUrl)
  const owner = await signUp(berth, "enterprise")
  const project = await owner.project()
  const place = async (name: string, imageUri: string, variables: Readonly<Record<string, string>> = {}) => {
    const server = await owner.server(project.id, { autoStopSeconds: 60, memoryMb: 512, healthTimeoutSeconds: 120 })
    const at = `/v1/servers/${server.id}`
    for (const [key, value] of Object.entries(variables)) await owner.put(`${at}/env/${key}`, { value })
    const deployed = dataOf(await owner.post<{ data: { id: string } }>(`${at}/deploy`, { imageUri, wait: false }))
    for (;;) {
      const record = dataOf(await owner.get<{ data: { status: string } }>(`${at}/deployments/${deployed.id}`))
      if (record.status === "running") break
      if (record.status === "failed") throw new Error(`${name}: ${JSON.stringify(record)}`)
      await sleep(200)
    }
    const { accessToken: token } = dataOf(
      await owner.post<{ data: { accessToken: string } }>(`${at}/test-token`, {})
    )
    return {
      name,
      server,
      at,
      token,
      took: { woken: [] as Array<number>, started: [] as Array<number> },
      processor: [] as Array<number>
    }
  }
  type Place = Awaited<ReturnType<typeof place>>
  const places = [
    await place("plain Node", await plainImage(join(home, "plain"))),
    await place("ready-made", `oci:${(await buildReadyImage(join(home, "ready"))).path}`, {
      SVC_READY_CONFIG: JSON.stringify(restaurant)
    }),
    await place(packaged, packaged)
  ]

  const read = async ({ at }: Place) => dataOf(await owner.get<{ data: Server & { asleep: boolean } }>(at))
  const pids = () => new Set(traces(home).processes.map(({ pid }) => pid))
  /** Until a client is answered. */
  const first = async ({ server, token }: Place) => {
    const headers = { accept: "application/json, text/event-stream" }
    for (;;) {
      const { status } = await berth.request("POST", `/s/${server.slug}/mcp`, { token, body: initialize, headers })
      if (status === 200) return
      await sleep(5)
    }
  }
  const timed = async (of: Place, how: "woken" | "started", before: () => Promise<unknown>) => {
    const there = pids()
    const began = performance.now()
    await before()
    await first(of)
    of.took[how].push(performance.now() - began)
    const own = [...pids()].filter((pid) => !there.has(pid))
    of.processor.push(own.reduce((sum, pid) => sum + processorTime(pid), 0))
  }

  for (let round = 0; round < rounds; round++) {
    // Whose turn is first changes.
    const turns = places.map((_, at) => places[(at + round) % places.length]!)
    while ((await Promise.all(places.map(read))).some(({ asleep }) => !asleep) || traces(home).machines.length > 0) {
      for (const { server } of places) await ageServer(databaseUrl, server.id)
      await sleep(500)
    }
    // The end of their output is stored; a start would wait for it.
    await sleep(1_000)
    for (const one of turns) await timed(one, "woken", () => Promise.resolve())
    for (const one of places) await owner.request("POST", `${one.at}/stop`)
    while (traces(home).machines.length > 0) await sleep(100)
    await sleep(1_000)
    for (const one of turns) await timed(one, "started", () => owner.request("POST", `${one.at}/start`))
  }

  const [of] = places as [Place]
  const row = (values: ReadonlyArray<number>, than: ReadonlyArray<number>) =>
    `${median(values).toFixed(0)} ms (× ${(median(values) / median(than)).toFixed(2)})`
  console.log(`medians of ${rounds} rounds (× of plain Node)`)
  for (const { name, processor, took } of places) {
    console.log(
      `${name}: woken and answered after ${row(took.woken, of.took.woken)}, started and answered after ` +
        `${row(took.started, of.took.started)}, processor time of its machine ${row(processor, of.processor)}`
    )
  }
  await owner.request("DELETE", `/v1/projects/${project.id}`)
}

const home = temporaryDirectory("bench-packages")
try {
  await Effect.runPromise(Effect.scoped(Effect.gen(function*() {
    const postgres = yield* embedded(join(home, "postgres"), {})
    const socket = encodeURIComponent(postgres.host)
    const databaseUrl =
      `postgres://${postgres.user}@localhost/${postgres.database}?host=${socket}&port=${postgres.port}`
    yield* Effect.promise(() => run(join(home, "berth"), databaseUrl))
  })))
} finally {
  rmSync(home, { recursive: true, force: true })
}
