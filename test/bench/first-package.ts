/**
 * The way of a package from nothing to an answer: `npx` with an empty cache until its stdio answers `initialize`, and in
 * turn a deployment until the server runs. A round has a new home and cache; its first package comes to an installation
 * that has deployed nothing, its second to one that has. A third deploys the second again, on another server.
 *
 *   npm run bench first-package [rounds [first package [second package]]]
 */
import { embedded } from "#sql/Embedded.ts"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import { dataOf, signUp } from "../support/account.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { doorOf } from "./support/door.ts"
import { startProgram } from "./support/program.ts"

const rounds = Number(process.argv[2] ?? "5")
const packages = [
  process.argv[3] ?? "@modelcontextprotocol/server-everything",
  process.argv[4] ?? "@modelcontextprotocol/server-memory"
] as const

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } }
}

/** Milliseconds until the package, which npm has to fetch, answers on stdio. */
const byNpx = async (name: string) => {
  const cache = temporaryDirectory("npx")
  const began = performance.now()
  const child = spawn("npx", ["--yes", name], {
    env: { ...process.env, npm_config_cache: cache },
    stdio: ["pipe", "pipe", "ignore"]
  })
  child.stdin.write(`${JSON.stringify(initialize)}\n`)
  const lines = createInterface({ input: child.stdout })
  for await (const line of lines) if (line.includes("\"serverInfo\"")) break
  const took = performance.now() - began
  child.stdin.end()
  child.kill()
  await once(child, "exit")
  rmSync(cache, { recursive: true, force: true })
  return took
}

const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[values.length >> 1]!
const seconds = (millis: number) => `${(millis / 1000).toFixed(1)} s`

const onBerth = async (home: string, databaseUrl: string) => {
  const certificates = process.env["NODE_EXTRA_CA_CERTS"]
  const { child, url } = await startProgram(home, databaseUrl, [], {
    // A registry may be a mirror at a private address.
    ALLOWED_PRIVATE_HOSTS: "registry.npmjs.org",
    ...(certificates === undefined ? {} : { NODE_EXTRA_CA_CERTS: certificates })
  })
  try {
    const berth = doorOf(url, databaseUrl)
    const owner = await signUp(berth, "enterprise")
    const project = await owner.project()
    const deploy = async (name: string) => {
      const { id } = await owner.server(project.id, { memoryMb: 512, healthTimeoutSeconds: 120 })
      const at = `/v1/servers/${id}`
      const began = performance.now()
      const body = { imageUri: `npm:${name}`, wait: false }
      const deployed = dataOf(await owner.post<{ data: { id: string } }>(`${at}/deploy`, body))
      for (;;) {
        const record = dataOf(await owner.get<{ data: { status: string } }>(`${at}/deployments/${deployed.id}`))
        if (record.status === "running") return performance.now() - began
        if (record.status === "failed") throw new Error(`${name}: ${JSON.stringify(record)}`)
        await sleep(50)
      }
    }
    return [await deploy(packages[0]), await deploy(packages[1]), await deploy(packages[1])] as const
  } finally {
    child.kill("SIGTERM")
    await once(child, "exit")
    rmSync(home, { recursive: true, force: true })
  }
}

const took = { npx: [[], []] as [Array<number>, Array<number>], berth: [[], [], []] as Array<Array<number>> }
const place = temporaryDirectory("bench-first-package")
const round = Effect.scoped(Effect.gen(function*() {
  const postgres = yield* embedded(join(place, "postgres"), {})
  const socket = encodeURIComponent(postgres.host)
  const url = `postgres://${postgres.user}@localhost/${postgres.database}?host=${socket}&port=${postgres.port}`
  yield* Effect.promise(async () => {
    for (const [at, name] of packages.entries()) took.npx[at]!.push(await byNpx(name))
    for (const [at, millis] of (await onBerth(join(place, "berth"), url)).entries()) took.berth[at]!.push(millis)
  })
}))
try {
  for (let n = 0; n < rounds; n++) await Effect.runPromise(round)
} finally {
  rmSync(place, { recursive: true, force: true })
}
const row = (name: string, values: ReadonlyArray<number>, beside: ReadonlyArray<number>) =>
  console.log(
    `${name}: ${seconds(median(values))}, npx ${seconds(median(beside))}: × ${
      (median(values) / median(beside)).toFixed(2)
    }`
  )
row(`first package (${packages[0]})`, took.berth[0]!, took.npx[0])
row(`second package (${packages[1]})`, took.berth[1]!, took.npx[1])
row("the second again", took.berth[2]!, took.npx[1])
