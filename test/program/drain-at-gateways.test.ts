import { expect, it } from "vitest"
import { missingForApps } from "../deployments/support/app-image.ts"
import { call, callIn, openSession, openStream, reply, versionAt } from "../deployments/support/prober.ts"
import { untilTrue } from "../deployments/support/wait.ts"
import { describeLong } from "../support/needs.ts"
import { childrenOf, useGateways } from "./support/gateways.ts"
import { traces } from "./support/traces.ts"

const drainSeconds = 10

describeLong("a machine that drains under two gateway processes and the platform", () => {
  const set = useGateways(drainSeconds)

  /** A server, and whoever asks it: through either gateway process alone, and through the platform. */
  const begin = async (name: string) => {
    const { gateways, platform, setUp, through } = set()
    const { deploy, direct, first, server, where } = await setUp(name)
    const [one = 0, other = 0] = childrenOf(gateways.pid)
    await untilTrue(() => through(one, async () => await versionAt(where).catch(String) === "1"))
    const each = async <A>(work: (at: typeof where) => Promise<A>) => [
      await through(one, () => work(where)),
      await through(other, () => work(where)),
      await work(direct)
    ]
    const runs = (id: string) => traces(platform.place.home).machines.includes(id)
    return { deploy, each, first, one, other, runs, server, through, where }
  }

  it("has its sessions and streams until the limit, and then they begin anew, whichever process is asked", async () => {
    const { deploy, each, first, one, other, runs, server, through, where } = await begin("Limited")
    const session = await through(one, () => openSession(where))
    const stream = await through(one, () => openStream(where, "/mcp", session))
    const legacy = await through(other, () => openStream(where, "/sse"))
    const [path, query] = (await legacy.next()).split(`/s/${server.slug}`)[1]!.split("?")
    const messages = `${path}?${query}`
    // Of a session that one process has opened, and that is in use at the other as the machine is replaced.
    const slow = through(one, () => openSession(where)).then((id) => callIn(where, id, { seconds: 4 }))
    await deploy()
    const swapped = Date.now()
    expect(await each((at) => versionAt(at))).toEqual(["2", "2", "2"])
    expect(await each((at) => callIn(at, session))).toEqual(["1", "1", "1"])
    for (const status of await each(async (at) => (await reply(at, messages, false, { rpc: call() })).status)) {
      expect(status).toBe(202)
      expect(await legacy.next()).toContain("\"text\":\"1\"")
    }
    expect(await slow).toBe("1")
    expect(runs(first)).toBe(true)

    await untilTrue(() => through(other, async () => (await callIn(where, session)) === undefined))
    expect(Date.now() - swapped).toBeGreaterThan((drainSeconds - 1) * 1_000)
    expect(Date.now() - swapped).toBeLessThan((drainSeconds + 5) * 1_000)
    expect(await each((at) => callIn(at, session))).toEqual([undefined, undefined, undefined])
    expect(await each(async (at) => (await reply(at, messages, false, { rpc: call() })).status)).toEqual([
      404,
      404,
      404
    ])
    expect(await Promise.all([stream.ended, legacy.ended])).toEqual([true, true])
    await untilTrue(() => !runs(first))
    expect(await each((at) => versionAt(at))).toEqual(["2", "2", "2"])
  }, 90_000)

  it("goes before it, once what either process has opened is closed at either", async () => {
    const { deploy, first, one, other, runs, through, where } = await begin("Closed")
    const sessions = [await through(one, () => openSession(where)), await through(other, () => openSession(where))]
    const stream = await through(one, () => openStream(where, "/mcp", sessions[0]))
    const close = (pid: number, session: string | undefined) =>
      through(pid, async () => (await reply(where, "/mcp", false, { method: "DELETE", session })).status)
    await deploy()
    const swapped = Date.now()
    // Each is closed at the process that did not open it.
    expect([await close(other, sessions[0]), await close(one, sessions[1])]).toEqual([200, 200])
    await new Promise((resolve) => setTimeout(resolve, 4_000))
    expect(runs(first), "a stream is open").toBe(true)
    stream.close()
    await untilTrue(() => !runs(first))
    expect(Date.now() - swapped).toBeLessThan((drainSeconds - 1) * 1_000)
  }, 90_000)
}, missingForApps)
