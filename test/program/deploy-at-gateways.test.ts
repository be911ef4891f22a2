import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { missingForApps } from "../deployments/support/app-image.ts"
import { callIn, openSession, startProber, versionAt, type Where } from "../deployments/support/prober.ts"
import { sessionImage } from "../deployments/support/session-image.ts"
import { untilTrue } from "../deployments/support/wait.ts"
import { type Server } from "../support/account.ts"
import { freePort } from "../support/http.ts"
import { describeLong } from "../support/needs.ts"
import { type Owner, owner } from "./support/owner.ts"
import { type Program, run, useProgram } from "./support/program.ts"

const deploys = 3
/** Longer than the test: a session ends because it is closed. */
const drainSeconds = 600

/** Processes whose parent is that one. */
const childrenOf = (pid: number) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean)

describeLong("deployments under two gateway processes and the platform", () => {
  const platform = useProgram({ DRAIN_SECONDS: String(drainSeconds) })
  let gateways: Program
  let me: Owner
  let server: Server
  /** Through the gateways, and through the platform's own. */
  let where: Where
  let direct: Where

  const deploy = async (version: number) => {
    const { body, text } = await me.request<{ data: { status: string } }>("POST", `/v1/servers/${server.id}/deploy`, {
      body: { imageUri: await Effect.runPromise(sessionImage(String(version))) }
    })
    expect(body.data.status, text).toBe("running")
  }

  beforeAll(async () => {
    const port = await freePort()
    gateways = run({ ...platform().place, port }, [
      "node",
      "dist/berth.js",
      "serve",
      "--role",
      "gateway",
      "--processes",
      "2"
    ], { BASE_URL: platform().url, DRAIN_SECONDS: String(drainSeconds), TRUST_PROXY: "1" })
    await gateways.printed(/ready on .*, with 2 processes/)
    me = await owner(platform())
    // The prober sends more than the free plan's requests.
    const { email } = JSON.parse(readFileSync(join(platform().place.home, "demo.json"), "utf8")) as { email: string }
    await run(platform().place, ["node", "dist/berth.js", "admin", "plan", email, "enterprise"]).printed(/is on the/)
    server = await me.server()
    await deploy(1)
    const token = await me.testToken(server.id)
    where = { url: `http://127.0.0.1:${port}/s/${server.slug}`, token }
    direct = { url: `${me.base}/s/${server.slug}`, token }
    await untilTrue(async () => await versionAt(where).catch(String) === "1")
  }, 120_000)
  afterAll(async () => {
    await gateways.end("SIGTERM")
  })

  it("fail no request; a session stays with the machine that opened it, whichever process is asked", async () => {
    expect(childrenOf(gateways.pid)).toHaveLength(2)
    const session = await openSession(where)
    const replaced = new Map<string, number>()
    const prober = startProber([where, direct], { slowSeconds: 1, replacedAt: (version) => replaced.get(version) })
    const answers: Array<string | undefined> = []
    for (let next = 2; next <= deploys + 1; next++) {
      const before = Date.now()
      await deploy(next)
      replaced.set(String(next - 1), before)
      // Each on a connection of its own, so that both processes are asked.
      for (let n = 0; n < 6; n++) answers.push(await callIn(n % 3 === 2 ? direct : where, session))
      expect(await versionAt(where)).toBe(String(next))
    }
    expect(new Set(answers)).toEqual(new Set(["1"]))
    const { counts, failures } = await prober.stop()
    expect(failures).toEqual([])
    expect(counts["new connection"]).toBeGreaterThan(20)
    expect(childrenOf(gateways.pid)).toHaveLength(2)
    expect(gateways.output()).not.toMatch(/ended by|failed unexpectedly/)
  }, 240_000)
}, missingForApps)
