/**
 * What a composite adds to its slowest member: ten members, each a process, that answer after 50 ms, asked by one client,
 * one call at a time.
 *
 *   npm run bench fan-out [calls]
 */
import { embedded } from "#sql/Embedded.ts"
import { platformOn } from "#src/Platform.ts"
import { Effect, Exit, Layer, Scope } from "effect"
import { fork } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { dataOf, signUp } from "../support/account.ts"
import { freePort, send, type Sent } from "../support/http.ts"
import { LiveMembers } from "../support/live-members.ts"
import { callTool, connectMcp } from "../support/mcp.ts"
import { settingsTest, temporaryDirectory } from "../support/Settings.ts"

const calls = Number(process.argv[2] ?? 200)
const delay = 50
const members = 10

const live = new LiveMembers()
const scope = Effect.runSync(Scope.make())
const postgres = await Effect.runPromise(Scope.extend(embedded(temporaryDirectory("fan-out"), {}), scope))
const socket = encodeURIComponent(postgres.host)
const database = `postgres://${postgres.user}@localhost/${postgres.database}?host=${socket}&port=${postgres.port}`
const port = await freePort()
const url = `http://127.0.0.1:${port}`
const settings = settingsTest({
  PORT: String(port),
  BASE_URL: url,
  COMPUTE_DRIVER: "sandbox",
  DATABASE_URL: database,
  LOG_LEVEL: "ERROR"
})
await Effect.runPromise(Layer.buildWithScope(Layer.provide(platformOn(live.machines), settings), scope))
const berth = {
  url,
  databaseUrl: database,
  request: <Body = unknown>(method: string, path: string, sent: Sent = {}) => send<Body>(url, method, path, sent)
}
const owner = await signUp(berth, "enterprise")

const program = join(import.meta.dirname, "fan-out/member.program.ts")
const processes = Array.from({ length: members }, () => fork(program, [String(delay)]))
const added = []
for (const [i, child] of processes.entries()) {
  const [memberPort] = await once(child, "message") as [number]
  added.push(await live.add(berth, owner, `member-${i}`, `http://127.0.0.1:${memberPort}`))
}
const { id } = dataOf(
  await owner.post<{ data: { id: string } }>("/v1/hub/composites", {
    name: "Bench",
    query_definition: { listing_ids: added.map(({ business }) => business.listingId) }
  })
)
const composite = await connectMcp(url, { token: owner.token, path: `/mcp/composites/${id}` })
const [{ server, slug }] = added as [typeof added[number]]
const { accessToken: token } = dataOf(
  await owner.post<{ data: { accessToken: string } }>(`/v1/servers/${server.id}/test-token`, {})
)
const alone = await connectMcp(server.publicUrl, { token })

const percentile = (sorted: ReadonlyArray<number>, share: number) => sorted[Math.floor((sorted.length - 1) * share)]!
const shown = (name: string, times: ReadonlyArray<number>) => {
  const sorted = times.toSorted((one, other) => one - other)
  console.log(`  ${name}: p50 ${percentile(sorted, 0.5).toFixed(1)} ms, p95 ${percentile(sorted, 0.95).toFixed(1)} ms`)
}

/** `once` resolves to the milliseconds that the slowest member held the call. */
const measure = async (name: string, once: () => Promise<number>) => {
  const [whole, more]: [Array<number>, Array<number>] = [[], []]
  for (let call = 0; call < 20; call++) await once()
  const before = process.cpuUsage()
  for (let call = 0; call < calls; call++) {
    const started = performance.now()
    const held = await once()
    whole.push(performance.now() - started)
    more.push(whole.at(-1)! - held)
  }
  const { system, user } = process.cpuUsage(before)
  const each = ((system + user) / 1000 / calls).toFixed(1)
  console.log(`${name}: ${each} ms of processor time each, the client's included`)
  shown("a call", whole)
  shown("more than the slowest member", more)
}

const fanOut = (businesses?: ReadonlyArray<string>) => async () => {
  const { structuredContent } = await callTool(composite, "look", businesses === undefined ? {} : { businesses })
  const { answers } = structuredContent as { answers: ReadonlyArray<{ status: string; result: string }> }
  if (answers.length !== (businesses?.length ?? members) || answers.some(({ status }) => status !== "ok")) {
    throw new Error(`a member failed: ${JSON.stringify(answers)}`)
  }
  return Math.max(...answers.map(({ result }) => Number(result)))
}
await measure("one member, by its own URL", async () => {
  const { content: [first] } = await callTool(alone, "look")
  return first?.type === "text" ? Number(first.text) : NaN
})
await measure("one member of the composite", fanOut([slug]))
await measure(`${members} members of the composite`, fanOut())
await measure("tools/list of the composite", async () => {
  await composite.listTools()
  return 0
})

await composite.close()
await alone.close()
for (const child of processes) child.disconnect()
await Effect.runPromise(Scope.close(scope, Exit.void))
