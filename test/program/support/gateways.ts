import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect } from "vitest"
import { type Where } from "../../deployments/support/prober.ts"
import { sessionImage } from "../../deployments/support/session-image.ts"
import { type Server } from "../../support/account.ts"
import { freePort } from "../../support/http.ts"
import { owner } from "./owner.ts"
import { type Program, run, useProgram } from "./program.ts"

/** Processes whose parent is that one. */
export const childrenOf = (pid: number) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number)

const begin = async (platform: Program, drainSeconds: number) => {
  const port = await freePort()
  const gateways = run(
    { ...platform.place, port },
    ["node", "dist/berth.js", "serve", "--role", "gateway", "--processes", "2"],
    { BASE_URL: platform.url, DRAIN_SECONDS: String(drainSeconds), TRUST_PROXY: "1" }
  )
  await gateways.printed(/ready on .*, with 2 processes/)
  const me = await owner(platform)
  // A prober sends more than the free plan's requests.
  const { email } = JSON.parse(readFileSync(join(platform.place.home, "demo.json"), "utf8")) as { email: string }
  await run(platform.place, ["node", "dist/berth.js", "admin", "plan", email, "enterprise"]).printed(/is on the/)
  const setUp = async (name: string) => {
    const server: Server = await me.newServer(name)
    let version = 0
    const deploy = async () => {
      version += 1
      const { body, text } = await me.request<{ data: { id: string; status: string } }>(
        "POST",
        `/v1/servers/${server.id}/deploy`,
        { body: { imageUri: await Effect.runPromise(sessionImage(String(version))) } }
      )
      expect(body.data.status, text).toBe("running")
      return body.data.id
    }
    const first = await deploy()
    const token = await me.testToken(server.id)
    const at = (base: string): Where => ({ url: `${base}/s/${server.slug}`, token })
    /** Through the gateways, and through the platform's own. */
    return { server, first, deploy, where: at(`http://127.0.0.1:${port}`), direct: at(me.base) }
  }
  /** One of them does what comes meanwhile: the others are stopped. */
  const through = async <A>(pid: number, work: () => Promise<A>) => {
    const others = childrenOf(gateways.pid).filter((other) => other !== pid)
    for (const other of others) process.kill(other, "SIGSTOP")
    try {
      return await work()
    } finally {
      for (const other of others) process.kill(other, "SIGCONT")
    }
  }
  return { gateways, platform, me, setUp, through }
}

/** The platform, and two processes of `--role gateway` that share a port, for the tests of a file. */
export const useGateways = (drainSeconds: number) => {
  const platform = useProgram({ DRAIN_SECONDS: String(drainSeconds) })
  const held: { set?: Awaited<ReturnType<typeof begin>> } = {}
  beforeAll(async () => {
    held.set = await begin(platform(), drainSeconds)
  }, 60_000)
  afterAll(async () => {
    await held.set?.gateways.end("SIGTERM")
  })
  return () => {
    if (held.set === undefined) throw new Error("The gateways were not started")
    return held.set
  }
}
