import { Effect, Exit, Scope } from "effect"
import { randomBytes } from "node:crypto"
import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { freshDatabaseUrl } from "../support/Database.ts"
import { freePort, send } from "../support/http.ts"
import { describeLong, itLong } from "../support/needs.ts"
import { runSql } from "../support/sql.ts"
import { owner } from "./support/owner.ts"
import { ask, keepAsking } from "./support/probe.ts"
import { anotherHome, build, clear, newPlace, type Place, type Program, run, sweep } from "./support/program.ts"
import { nothing, traces } from "./support/traces.ts"

const missing = process.platform === "linux" ? undefined : "machines run on Linux only"

describeLong("two hosts on one database", () => {
  const scope = Effect.runSync(Scope.make())
  let first: Place
  let second: Place
  let program: Program
  let variables: Readonly<Record<string, string>>

  const start = (place: Place) => run(place, ["node", "dist/berth.js", "serve"], variables)
  const ready = async (place: Place) => {
    const started = start(place)
    await started.printed(/npx berth call .*\n/)
    return started
  }
  const baseOf = ({ port }: Place) => `http://127.0.0.1:${port}`
  const expire = () =>
    runSql(variables["DATABASE_URL"] ?? "", "UPDATE hosts SET lease_until = now() - interval '1 second'")
  /** The restaurant's server, asked through the gateway of a host. */
  const asking = async (running: Program) => {
    const { serverId, testToken } = await owner(running)
    const path = "/s/copper-ladle/mcp"
    const token = await testToken(serverId)
    return {
      ask: () => ask(baseOf(running.place), path, token),
      keepAsking: () => keepAsking(baseOf(running.place), path, token)
    }
  }

  beforeAll(async () => {
    first = await newPlace()
    await build(first)
    second = await anotherHome(first)
    variables = {
      DATABASE_URL: await Effect.runPromise(Scope.extend(freshDatabaseUrl, scope)),
      SECRET_KEY: randomBytes(32).toString("base64"),
      BASE_URL: baseOf(first)
    }
    program = await ready(first)
    copyFileSync(join(first.home, "demo.json"), join(second.home, "demo.json"))
  }, 120_000)
  afterAll(async () => {
    for (const place of [first, second]) sweep(place)
    for (const place of [first, second]) clear(place)
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }, 60_000)

  it("the second is refused by a sentence that names the first, which serves on", async () => {
    const { keepAsking } = await asking(program)
    const { replies, stop } = keepAsking()
    const refused = [second, { ...first, port: await freePort() }].map(start)
    for (const one of refused) {
      const [, sentence] = await one.printed(/(Another berth .*)\n/)
      expect(sentence).toMatch(
        new RegExp(
          `^Another berth serves this installation: host_\\w{26} on \\S+ \\(process ${program.pid}\\) has served it since ` +
            "\\S+, by a lease until \\S+\\. Stop it, or wait until its lease has ended$"
        )
      )
      expect(await one.end("SIGTERM")).toEqual({ code: 1, signal: null })
      expect(one.output()).not.toMatch(/\n {4}at /)
    }
    await stop()
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
    expect(traces(second.home)).toEqual(nothing)
  }, 90_000)

  it("one that was killed is taken up at once by the same home, with the machine that it left", async () => {
    const before = traces(first.home).machines
    expect(before).toHaveLength(1)
    await program.end("SIGKILL")
    program = await ready(first)
    expect(traces(first.home).machines).toEqual(before)
    expect(await (await asking(program)).ask()).toMatchObject({ status: 200 })
  }, 90_000)

  it(
    "one that stood still until its lease had ended finds another in its place, and ends without a fight",
    async () => {
      process.kill(program.pid, "SIGSTOP")
      await expire()
      const taking = start(second)
      await taking.printed(/Taking over from host_/)
      await taking.printed(/npx berth call .*\n/)
      const there = await asking(taking)
      await expect.poll(async () => (await there.ask()).status, { timeout: 30_000, interval: 200 }).toBe(200)
      const { replies, stop } = there.keepAsking()
      process.kill(program.pid, "SIGCONT")
      const [, sentence] = await program.printed(/(This host has lost its lease.*)\n/)
      expect(sentence).toContain(`another one took over: host_`)
      expect(sentence).toContain(`(process ${taking.pid})`)
      await expect.poll(() => traces(first.home), { timeout: 30_000, interval: 200 }).toEqual(nothing)
      await stop()
      expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
      expect(await program.end("SIGTERM")).toEqual({ code: 1, signal: null })
      program = taking
    },
    120_000
  )

  itLong("what a server is asked meanwhile is answered that it is being brought back", async () => {
    // Its image is nowhere yet, on a host that has just begun.
    await runSql(variables["DATABASE_URL"] ?? "", "UPDATE servers SET status = 'provisioning'")
    await program.end("SIGKILL")
    await expire()
    const third = await anotherHome(first)
    const taking = start({ ...third, port: second.port })
    try {
      await taking.printed(/Taking over from host_/)
      const { testToken } = await (async () => {
        copyFileSync(join(first.home, "demo.json"), join(third.home, "demo.json"))
        await expect.poll(() => send(baseOf(second), "GET", "/v1/health").then(({ status }) => status, () => 0), {
          timeout: 60_000
        }).toBe(200)
        return owner({ ...taking, place: { ...third, port: second.port } })
      })()
      const token = await testToken()
      const answers: Array<string> = []
      await expect.poll(async () => {
        const { body, headers, status } = await send<{ error?: { message: string } }>(
          baseOf(second),
          "GET",
          "/s/copper-ladle/healthz",
          { token }
        )
        if (status === 503) answers.push(`${body.error?.message} ${headers.get("retry-after")}`)
        return status
      }, { timeout: 60_000, interval: 20 }).toBe(200)
      expect(answers).toContain("The server is being brought back; try again shortly 5")
    } finally {
      await taking.end("SIGTERM")
      sweep(third)
      clear(third)
    }
  }, 120_000)
}, missing)
