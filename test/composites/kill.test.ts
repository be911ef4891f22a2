import { Effect, Exit, Scope } from "effect"
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { setTimeout } from "node:timers/promises"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type Account, signUp } from "../support/account.ts"
import { compose } from "../support/composites.ts"
import { freshDatabaseUrl } from "../support/Database.ts"
import { freePort, freshAddress, send, type Sent } from "../support/http.ts"
import { type LiveMember, LiveMembers } from "../support/live-members.ts"
import { startMember, type TestMember } from "../support/mcp-member.ts"
import { callTool, connectMcp } from "../support/mcp.ts"
import { describeLong } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { runSql } from "../support/sql.ts"
import { type Answer, change, look } from "./three-members.ts"

/** Milliseconds before its end at which the platform is called: it makes grants, or members hold their calls. */
const moments = [500, 30]

const scope = Effect.runSync(Scope.make())
const home = temporaryDirectory("composite-kill")
const live = new LiveMembers()
const servers: Array<TestMember> = []
const members: Array<LiveMember> = []
const door = { url: "", databaseUrl: "" }
const berth = {
  get url() {
    return door.url
  },
  get databaseUrl() {
    return door.databaseUrl
  },
  request: <Body = unknown>(method: string, path: string, sent: Sent = {}) =>
    send<Body>(door.url, method, path, { ...sent, headers: { "x-forwarded-for": freshAddress(), ...sent.headers } })
}
let child: ChildProcess | undefined

const start = async () => {
  const program = new URL("./platform.program.ts", import.meta.url).pathname
  const started = fork(program, [home, new URL(door.url).port, door.databaseUrl], { execArgv: ["--import", "tsx"] })
  child = started
  started.send([...live.addresses])
  const isThere = () => fetch(`${door.url}/v1/health`).then(({ ok }) => ok, () => false)
  while (!await isThere()) {
    if (started.exitCode !== null) throw new Error("the platform ended")
    await setTimeout(100)
  }
  return started
}

const kill = async (platform: ChildProcess) => {
  const gone = once(platform, "exit")
  platform.kill("SIGKILL")
  await gone
}

const ask = async (caller: Account, path: string) => {
  const client = await connectMcp(door.url, { token: caller.token, path })
  try {
    const { structuredContent } = await callTool(client, "look")
    return (structuredContent as { answers: ReadonlyArray<Answer> }).answers.map(({ status }) => status)
  } finally {
    await client.close()
  }
}

/** Grants of the account to composites, and how many families of tokens each has. */
const grantsOf = (caller: Account) =>
  runSql(
    door.databaseUrl,
    `SELECT g.id, (SELECT count(*)::int FROM token_families f WHERE f.grant_id = g.id) AS families
     FROM oauth_grants g JOIN users u ON u.id = g.user_id WHERE u.email = $1`,
    [caller.email]
  )

describeLong("a platform that is killed during a call", () => {
  beforeAll(async () => {
    door.databaseUrl = await Effect.runPromise(Scope.extend(freshDatabaseUrl, scope))
    door.url = `http://127.0.0.1:${await freePort()}`
    const platform = await start()
    const owner = await signUp(berth, "enterprise")
    for (const name of ["anna", "bert", "cleo"]) {
      const server = await startMember(name, [look, change])
      servers.push(server)
      members.push(await live.add(berth, owner, name, server.url))
    }
    platform.send([...live.addresses])
  }, 120_000)
  afterAll(async () => {
    if (child?.exitCode === null) await kill(child)
    servers.forEach(({ stop }) => stop())
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  it("has written whole grants or none, early and late in a call, and the next one answers for all", async () => {
    const calls = await Promise.all(moments.map(async (moment) => {
      const caller = await signUp(berth, "enterprise")
      const { id } = await compose(caller, {
        name: "All",
        query_definition: { listing_ids: members.map(({ business }) => business.listingId) }
      })
      return { caller, moment, path: `/mcp/composites/${id}` }
    }))
    servers.forEach((server) => (server.answer = () => new Promise(() => undefined)))
    const end = Date.now() + Math.max(...moments)
    const cut = calls.map(async ({ caller, moment, path }) => {
      await setTimeout(end - moment - Date.now())
      return ask(caller, path).then(() => "answered", () => "cut off")
    })
    await setTimeout(end - Date.now())
    await kill(child!)
    expect(await Promise.all(cut)).toEqual(["cut off", "cut off"])
    for (const { caller } of calls) {
      const left = await grantsOf(caller)
      expect(left.map(({ families }) => families)).toEqual(left.map(() => 1))
    }

    servers.forEach((server) => (server.answer = (tool) => tool))
    await start()
    for (const { caller, path } of calls) {
      expect(await ask(caller, path)).toEqual(["ok", "ok", "ok"])
      expect((await grantsOf(caller)).map(({ families }) => families)).toEqual([1, 1, 1])
    }
  }, 180_000)
})
