import { type ClientResponse } from "#http/connection/client-response.ts"
import { makeDescriptors } from "#http/connection/Descriptors.ts"
import { makeRoom } from "#http/gateway/room.ts"
import { assert, describe, it } from "@effect/vitest"
import { EventEmitter } from "node:events"

const setup = ({ limit = 4_096, open = 100 }: { readonly limit?: number; readonly open?: number }) => {
  const inFlight = { size: 0 }
  const state = { open }
  const logged: Array<string> = []
  const descriptors = makeDescriptors({
    limit,
    count: () => Promise.resolve(state.open),
    log: (message) => void logged.push(message)
  })
  const room = makeRoom({ inFlight, descriptors })
  const enter = (account: string, serverId: string, isByoa = false, destroyed = false) => {
    const res = Object.assign(new EventEmitter(), { destroyed })
    const route = { accountId: "owner", serverId }
    return { refusal: room.enter(route, isByoa ? undefined : { sub: account }, res as unknown as ClientResponse), res }
  }
  return { inFlight, logged, room, state, enter }
}
const textOf = (reply: unknown) => JSON.stringify(reply)

describe("requests and streams that are open at hosted servers", () => {
  it("are so many of an account, and another's go on", () => {
    const { enter } = setup({})
    const all = Array.from({ length: 300 }, (_, i) => enter("one", `server ${i % 3}`))
    const taken = all.filter(({ refusal }) => refusal === undefined)
    assert.strictEqual(taken.length, 256)
    assert.match(textOf(all.at(-1)?.refusal), /429.*"RATE_LIMITED".*Your account has 256 requests and event streams/)
    assert.strictEqual(all.at(-1)?.refusal?.headers?.["Retry-After"], "5")
    assert.isUndefined(enter("another", "server 1").refusal)
    taken[0]?.res.emit("close")
    assert.isUndefined(enter("one", "server 1").refusal)
    assert.isDefined(enter("one", "server 1").refusal)
  })

  it("do not count when their client left before they were let in", () => {
    const { enter } = setup({})
    for (let i = 0; i < 300; i++) assert.isUndefined(enter("one", "server", false, true).refusal)
    assert.isUndefined(enter("one", "server").refusal)
  })

  it("are so many of a server, whoever has them, and of its owner where its machine alone knows whose they are", () => {
    const { enter } = setup({})
    const all = Array.from({ length: 600 }, (_, i) => enter(`account ${i}`, "server"))
    assert.strictEqual(all.filter(({ refusal }) => refusal === undefined).length, 512)
    assert.match(textOf(all.at(-1)?.refusal), /503.*512 requests and event streams are open at this server/)
    const own = enter("owner", "server")
    assert.isUndefined(own.refusal, "guests never keep the owner out")
    own.res.emit("close")
    const unknown = Array.from({ length: 300 }, (_, i) => enter("", `byoa ${i}`, true))
    assert.strictEqual(unknown.filter(({ refusal }) => refusal === undefined).length, 256)
    assert.match(textOf(unknown.at(-1)?.refusal), /429.*The account of this server has 256/)
  })

  it("leave a fifth of the descriptors to the platform, which counts what is open and what has come since", async () => {
    const { enter, inFlight, logged, room } = setup({ open: 3_000 })
    assert.isUndefined(room.refusal(), "nothing is counted yet")
    await new Promise((resolve) => setTimeout(resolve, 10))
    inFlight.size = 138
    assert.isUndefined(room.refusal())
    inFlight.size = 139
    assert.match(textOf(room.refusal()), /503.*nearly as many connections open/)
    assert.strictEqual(enter("one", "server").refusal, room.refusal())
    assert.deepStrictEqual(logged, [])
    const crowded = setup({ open: 3_300 })
    crowded.room.refusal()
    await new Promise((resolve) => setTimeout(resolve, 10))
    assert.isDefined(crowded.room.refusal())
    assert.match(crowded.logged.join(), /LimitNOFILE/)
    crowded.state.open = 100
    await new Promise((resolve) => setTimeout(resolve, 1_200))
    assert.isUndefined(crowded.room.refusal(), "it was counted again, though nobody had asked")
  })

  it("are at most 2,000 of an account and 8,000 of a server, however many files may be open", () => {
    const { enter } = setup({ limit: Infinity })
    const all = Array.from({ length: 9_000 }, (_, i) => enter(`account ${i % 5}`, "server"))
    assert.strictEqual(all.filter(({ refusal }) => refusal === undefined).length, 8_000)
    const own = Array.from({ length: 2_100 }, (_, i) => enter("one", `server ${i}`))
    assert.strictEqual(own.filter(({ refusal }) => refusal === undefined).length, 2_000)
  })
})
