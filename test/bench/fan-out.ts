/**
 * What a composite adds to its slowest member: ten members, each a process, asked by one client, a process too, one call
 * at a time. All hold a call for so long; then each for another time, up to that, as members do. Beside it is the same client
 * that asks the members itself, at once. Processor time is that of the platform alone. Measured is a platform that has
 * been asked before: until then its code is not compiled.
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
import { settingsTest, temporaryDirectory } from "../support/Settings.ts"
import { type Call, type Door, type Order } from "./fan-out/client.program.ts"

const calls = Number(process.argv[2] ?? 200)
const members = 10
const warmUp = 1_500

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
  LOG_LEVEL: "ERROR",
  // A machine that others use, too, may stand still for seconds.
  COMPOSITE_MEMBER_SECONDS: "60"
})
await Effect.runPromise(Layer.buildWithScope(Layer.provide(platformOn(live.machines), settings), scope))
const berth = {
  url,
  databaseUrl: database,
  request: <Body = unknown>(method: string, path: string, sent: Sent = {}) => send<Body>(url, method, path, sent)
}
const owner = await signUp(berth, "enterprise")

const file = (name: string) => join(import.meta.dirname, `fan-out/${name}.program.ts`)
const processes = Array.from({ length: members }, () => fork(file("member")))
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
const [{ slug }] = added as [typeof added[number]]
const ownDoors: Array<Door> = []
for (const { server } of added) {
  const minted = await owner.post<{ data: { accessToken: string } }>(`/v1/servers/${server.id}/test-token`, {})
  ownDoors.push({ url: `${server.publicUrl}/mcp`, token: dataOf(minted).accessToken })
}
const client = fork(file("client"))
const ask = async (order: Order) => {
  client.send(order)
  const [answer] = await once(client, "message") as [ReadonlyArray<Call>]
  return answer
}

const percentile = (numbers: ReadonlyArray<number>, share: number) =>
  numbers.toSorted((one, other) => one - other)[Math.floor((numbers.length - 1) * share)]!

/** The result, and the milliseconds of processor and of the clock that it took. */
const timed = async <A>(work: () => Promise<A>) => {
  const [began, before] = [performance.now(), process.cpuUsage()]
  const result = await work()
  const { system, user } = process.cpuUsage(before)
  return { result, processor: (system + user) / 1000, took: performance.now() - began }
}

const hold = (delayOf: (member: number) => number) => processes.forEach((child, i) => child.send({ delay: delayOf(i) }))

const measure = async (name: string, order: Omit<Order, "calls">, delayOf: (member: number) => number) => {
  hold(delayOf)
  const { processor, result, took } = await timed(() => ask({ ...order, calls }))
  const more = result.map(({ held, took }) => took - held)
  const each = (processor - took * ofJobs) / calls
  console.log(
    `${name}: ${each.toFixed(2)} ms of processor time; more than the slowest member: ` +
      `p50 ${percentile(more, 0.5).toFixed(1)} ms, p95 ${percentile(more, 0.95).toFixed(1)} ms`
  )
}

// Jobs and probes go on while members hold a call.
const idle = await timed(() => new Promise((resolve) => setTimeout(resolve, 5_000)))
const ofJobs = idle.processor / idle.took
console.log(`nothing asked: ${(ofJobs * 1000).toFixed(1)} ms of processor time a second`)

const composite = { doors: [{ url: `${url}/mcp/composites/${id}`, token: owner.token }] }
const call = (businesses?: ReadonlyArray<string>) => ({
  ...composite,
  method: "tools/call",
  params: { name: "look", arguments: businesses === undefined ? {} : { businesses } }
})
const direct = (doors: ReadonlyArray<Door>) => ({
  doors,
  method: "tools/call",
  params: { name: "look", arguments: {} }
})
const one = direct(ownDoors.slice(0, 1))
const each = direct(ownDoors)
const list = { ...composite, method: "tools/list", params: {} }
hold(() => 0)
for (const order of [one, each, call([slug]), call(), list]) await ask({ ...order, calls: warmUp })

for (const millis of [5, 50]) {
  const together = () => millis
  const oneByOne = (i: number) => millis * (i + 1) / members
  console.log(`Members hold a call for up to ${millis} ms`)
  await measure("one member, by its own URL", one, together)
  await measure(`${members} members by their own URLs at once, which answer at once`, each, together)
  await measure(`${members} members by their own URLs at once, which answer one after the other`, each, oneByOne)
  await measure("one member of the composite", call([slug]), together)
  await measure(`${members} members of the composite, which answer at once`, call(), together)
  await measure(`${members} members of the composite, which answer one after the other`, call(), oneByOne)
}
await measure("tools/list of the composite", list, () => 0)

client.disconnect()
for (const child of processes) child.disconnect()
await Effect.runPromise(Scope.close(scope, Exit.void))
