import { afterAll, beforeEach, describe, expect, it } from "vitest"
import { type Berth, useBerth } from "../support/Berth.ts"
import { secretKey } from "../support/mint.ts"
import { runSql } from "../support/sql.ts"
import { healthy, StartableMachines } from "../support/startable-machines.ts"
import { hurry, type Sleeper, sleeper } from "./support/sleeper.ts"

const spend = (berth: Berth, { owner }: Sleeper, seconds: number) =>
  runSql(
    berth.databaseUrl,
    `INSERT INTO usage (account_id, period, compute_milliseconds)
     SELECT id, usage_period(period_start, (now() AT TIME ZONE 'UTC')::date), $2::bigint * 1000 FROM users WHERE id = $1
     ON CONFLICT (account_id, period) DO UPDATE SET compute_milliseconds = excluded.compute_milliseconds`,
    [owner.id, seconds]
  )

describe("an account whose machine time of the period is used up", () => {
  const machines = new StartableMachines()
  const berth = useBerth({ machines: machines.layer, variables: secretKey })
  beforeEach(() => void (machines.conduct = { delay: 0, listener: healthy }))
  afterAll(machines.clear)

  const asleep = async (one: Sleeper) => {
    await expect.poll(async () => {
      // It stays so for half a minute before anything sleeps.
      berth.advance(31_000)
      hurry(berth)
      await runSql(
        berth.databaseUrl,
        "UPDATE servers SET asleep_at = asleep_at - interval '10 minutes' WHERE id = $1",
        [one.server.id]
      )
      return machines.statusOf(one.machine) === "exited" && (await one.read()).asleep
    }, { timeout: 20_000, interval: 1_000 }).toBe(true)
  }

  const refusal = {
    error: {
      code: "PLAN_LIMIT_REACHED",
      message: expect.stringMatching(
        /^The developer plan allows 1,000,000 seconds of running machines a month, and they are used up: wait until 2/
      ) as string,
      details: {
        limit: "computeSecondsPerMonth",
        used: 1_000_000,
        allowed: 1_000_000,
        plan: "developer",
        nextPlan: "pro",
        nextPrice: 99,
        resetsAt: expect.stringMatching(/^\d{4}-\d\d-01T00:00:00\.000Z$/) as string
      }
    }
  }

  it("has servers that sleep, also those that never do, and is told why until a larger plan", async () => {
    const owner = await berth.signUp("developer")
    const one = await sleeper(berth, machines, { autoStopSeconds: null }, owner)
    expect((await one.ask()).status).toBe(200)
    await spend(berth, one, 999_999)
    hurry(berth)
    expect((await one.ask()).status).toBe(200)
    berth.hurry(20_000)
    await expect.poll(one.messages).toContain(
      "The account has used 80 % of the 1,000,000 seconds of running machines that the developer plan allows a month"
    )
    const { body } = await owner.get<{ data: { limits: ReadonlyArray<object> } }>("/v1/billing/usage")
    expect(body.data.limits[1]).toMatchObject({
      limit: "computeSecondsPerMonth",
      used: 999_999,
      reached: 80,
      over: false
    })
    await spend(berth, one, 1_000_000)
    await asleep(one)
    expect((await one.messages()).match(/has used/g), "each is told once").toHaveLength(1)
    const refused = await one.ask()
    expect([refused.status, refused.body]).toEqual([429, refusal])
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0)
    expect(await one.messages()).toMatch(/seconds of running machines a month, and they are used up.*Asleep until then/)
    const path = `/v1/servers/${one.server.id}`
    const doors = [
      ["POST", `${path}/deploy`, { body: { imageUri: "oci:/nowhere" } }],
      ["POST", `${path}/start`, {}],
      ["POST", `${path}/restart`, {}]
    ] as const
    for (const [method, at, sent] of doors) {
      const answer = await owner.request(method, at, sent)
      expect([answer.status, answer.body], at).toEqual([429, refusal])
    }
    hurry(berth)
    expect(machines.statusOf(one.machine), "nothing wakes it").toBe("exited")
    await runSql(berth.databaseUrl, "UPDATE users SET plan = 'pro' WHERE id = $1", [owner.id])
    await expect.poll(async () => (await one.ask()).status, { timeout: 10_000 }).toBe(200)
  }, 60_000)

  it("is free of it when the next period begins", async () => {
    const owner = await berth.signUp("developer")
    const one = await sleeper(berth, machines, {}, owner)
    await spend(berth, one, 1_000_000)
    await asleep(one)
    expect((await one.ask()).status).toBe(429)
    await runSql(
      berth.databaseUrl,
      "UPDATE usage SET period = period - interval '40 days' WHERE account_id = $1",
      [owner.id]
    )
    await expect.poll(async () => (await one.ask()).status, { timeout: 10_000 }).toBe(200)
  }, 60_000)
})
