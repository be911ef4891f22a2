import { buildReadyImage } from "#src/ready-image/build-image.ts"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type Listed } from "../support/account.ts"
import { describeLong, soak } from "../support/needs.ts"
import { invitation, type Owner, owner } from "./support/owner.ts"
import { keepAsking } from "./support/probe.ts"
import { build, clear, newPlace, type Place, type Program, serve, sweep } from "./support/program.ts"
import { nothing, traces } from "./support/traces.ts"

const missing = process.platform === "linux" ? undefined : "machines run on Linux only"

const settings = (place: Place, name: string) => {
  const config = JSON.parse(readFileSync(join(place.folder, "examples/restaurant/ready-config.json"), "utf8"))
  return JSON.stringify({ ...config, business: { ...config.business, name } })
}

/** The ready server, slow to come up, so that a deployment of it can be caught waiting. */
const slowImage = async ({ folder, home }: Place) => {
  const server = join(home, "slow-server.cjs")
  const source = readFileSync(join(folder, "dist/ready-server.cjs"), "utf8")
  writeFileSync(server, `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500)\n${source}`)
  const { path } = await buildReadyImage(join(home, "slow-image"), { server })
  return `oci:${path}`
}

/** Begins a deployment as an agent does, and ends as soon as it is told of that stage; false when that was too short. */
const tryDeployUntil = async ({ serverId, session, base }: Owner, imageUri: string, stage: string) => {
  const client = new Client({ name: "test", version: "1" })
  const transport = new StreamableHTTPClientTransport(new URL(`${base}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${session}` } }
  })
  await client.connect(transport as Transport)
  const reached = new Promise<boolean>((resolve, reject) => {
    client.callTool({ name: "deploy", arguments: { serverId, imageUri } }, CallToolResultSchema, {
      onprogress: ({ message = "" }) => {
        if (message === stage) resolve(true)
      }
    }).then(() => resolve(false), reject)
  })
  return reached.finally(() => void client.close().catch(() => undefined))
}

/** Stages that last a moment may pass between two looks. */
const deployUntil = async (owner: Owner, imageUri: string, stage: string) => {
  for (let tries = 0; tries < 5; tries++) if (await tryDeployUntil(owner, imageUri, stage)) return
  throw new Error(`"${stage}" was not told in five deployments`)
}

const settled = async ({ deployments }: Owner) => {
  await expect.poll(async () => (await deployments()).map(({ status }) => status), { timeout: 60_000, interval: 100 })
    .not.toContainEqual(expect.stringMatching(/pending|building/))
  return deployments()
}

/** test/deployments/kill.test.ts kills at the health check, too. */
const stages = [
  "Finding the image",
  "Creating the machine",
  ...(soak ? ["Waiting for the health check"] : []),
  "Directing requests to the new machine"
]

describeLong("a platform that is killed", () => {
  let place: Place
  let program: Program
  let slow: string
  let invited: ReturnType<typeof invitation>
  let serving: string | undefined
  let names: ReadonlyArray<string> = ["Copper Ladle"]

  const restart = async () => {
    program = serve(place)
    await program.printed(/npx berth call .*\n/)
    return owner(program)
  }

  beforeAll(async () => {
    place = await newPlace()
    await build(place)
    const { deployments, request } = await restart()
    // From here on its variable tells the server what it is: a deployment can be told by the name it shows.
    const { data: [business] } = (await request<Listed<{ id: string }>>("GET", "/api/v1/ready/businesses")).body
    await request("PATCH", `/api/v1/ready/businesses/${business?.id}`, { body: { serverId: null } })
    serving = (await deployments())[0]?.id
    invited = invitation(program.output())
    slow = await slowImage(place)
  }, 120_000)
  afterAll(() => {
    sweep(place)
    clear(place)
  })

  const ask = () => keepAsking(`http://127.0.0.1:${place.port}`, new URL(invited.url).pathname, invited.token)

  it("leaves its machine at work, and the next start serves with that very machine", async () => {
    const before = traces(place.home).processes.filter(({ command }) => command.includes("keeper.cjs"))
    await program.end("SIGKILL")
    const asking = ask()
    const { server } = await restart()
    await asking.stop()
    expect(traces(place.home).processes.filter(({ command }) => command.includes("keeper.cjs"))).toEqual(before)
    expect(await server()).toMatchObject({ status: "running" })
    const back = asking.replies.findIndex(({ status }) => status !== undefined)
    expect(back).toBeGreaterThanOrEqual(0)
    expect(new Set(asking.replies.slice(back).map(({ status }) => status))).toEqual(new Set([200]))
  }, 120_000)

  it.each(stages)(
    "in a deployment, at \"%s\", has one machine and a true record afterwards, and was never shut",
    async (stage) => {
      const { request } = await owner(program)
      const before = names.at(-1)
      // Another one when it is tried again.
      const name = `After ${stage} (${names.length})`
      names = [...names, name]
      await request("PUT", `/v1/servers/${(await owner(program)).serverId}/env/SVC_READY_CONFIG`, {
        body: { value: settings(place, name) }
      })
      const asking = ask()
      await deployUntil(await owner(program), slow, stage)
      await program.end("SIGKILL")
      const dead = Date.now()
      const next = await restart()
      const deployments = await settled(next)
      // The old machine is given two seconds for requests under way.
      await expect.poll(() => traces(place.home).machines.length, { timeout: 30_000, interval: 200 }).toBe(1)
      await expect.poll(() => asking.replies.at(-1)?.name, { timeout: 30_000 }).toBe(name)
      await asking.stop()

      const [newest, ...older] = deployments
      const replaced = serving
      serving = newest?.id
      expect(newest).toMatchObject({ status: "running", active: true })
      expect(newest?.deployedAt).not.toBeNull()
      expect(newest?.errorMessage).toBeUndefined()
      expect(older.filter(({ active }) => active)).toEqual([])
      expect(older).toContainEqual(expect.objectContaining({ id: replaced, status: "running" }))
      expect(traces(place.home).machines).toEqual([newest?.id])
      expect(await next.server()).toMatchObject({ status: "running" })

      // Nobody met a closed door while a gateway was there: up to the kill, and from the first answer after it.
      const { replies } = asking
      const back = replies.findIndex(({ at, status }) => at > dead && status !== undefined)
      const answered = [
        ...replies.filter(({ at, status }) => at < dead - 500 && status !== 200),
        ...replies.slice(back).filter(({ status }) => status !== 200)
      ]
      expect(answered).toEqual([])
      // The new one answers after the old one, and then for good.
      const heard = replies.flatMap(({ name }) => name ?? []).filter((name, at, all) => name !== all[at - 1])
      expect(heard).toEqual([before, name])
    },
    120_000
  )

  it("ends without a trace when it is at last told to stop", async () => {
    expect(await program.end("SIGTERM")).toEqual({ code: 0, signal: null })
    expect(traces(place.home)).toEqual(nothing)
  }, 120_000)
}, missing)
