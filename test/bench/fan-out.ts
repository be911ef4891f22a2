/**
 * What a composite adds to its slowest member: ten members that answer after 50 ms, by one client, one call at a time.
 *
 *   npm run bench fan-out [calls]
 */
import { embedded } from "#sql/Embedded.ts"
import { platformOn } from "#src/Platform.ts"
import { Effect, Exit, Layer, Scope } from "effect"
import { dataOf, signUp } from "../support/account.ts"
import { freePort, send, type Sent } from "../support/http.ts"
import { LiveMembers } from "../support/live-members.ts"
import { startMember } from "../support/mcp-member.ts"
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
const tool = { name: "look", inputSchema: { type: "object" as const, properties: {} } }

const servers = []
const listingIds: Array<string> = []
/** Milliseconds that the slowest member took of the last call, as it saw it. */
let slowest = 0
for (let i = 0; i < members; i++) {
  const server = await startMember(`member-${i}`, [tool])
  server.answer = async () => {
    const started = performance.now()
    await new Promise((resolve) => setTimeout(resolve, delay))
    slowest = Math.max(slowest, performance.now() - started)
    return "ok"
  }
  servers.push(server)
  listingIds.push((await live.add(berth, owner, `member-${i}`, server.url)).business.listingId)
}
const { id } = dataOf(
  await owner.post<{ data: { id: string } }>("/v1/hub/composites", {
    name: "Bench",
    query_definition: { listing_ids: listingIds }
  })
)
const client = await connectMcp(berth.url, { token: owner.token, path: `/mcp/composites/${id}` })

const percentile = (sorted: ReadonlyArray<number>, share: number) => sorted[Math.floor((sorted.length - 1) * share)]!
const shown = (name: string, times: ReadonlyArray<number>) => {
  const sorted = times.toSorted((one, other) => one - other)
  console.log(`${name}: p50 ${percentile(sorted, 0.5).toFixed(1)} ms, p95 ${percentile(sorted, 0.95).toFixed(1)} ms`)
}

const [whole, added]: [Array<number>, Array<number>] = [[], []]
for (let call = -20; call < calls; call++) {
  slowest = 0
  const started = performance.now()
  const { structuredContent } = await callTool(client, "look")
  const took = performance.now() - started
  const { answers } = structuredContent as { answers: ReadonlyArray<{ status: string }> }
  if (answers.length !== members || answers.some(({ status }) => status !== "ok")) throw new Error("a member failed")
  if (call < 0) continue
  whole.push(took)
  added.push(took - slowest)
}
shown(`a call of ${members} members that take ${delay} ms each`, whole)
shown("more than the slowest of them", added)
const lists: Array<number> = []
for (let list = 0; list < calls; list++) {
  const started = performance.now()
  await client.listTools()
  lists.push(performance.now() - started)
}
shown("tools/list", lists)

await client.close()
for (const { stop } of servers) stop()
await Effect.runPromise(Scope.close(scope, Exit.void))
