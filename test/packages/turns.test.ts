import { afterAll, beforeAll, expect, it } from "vitest"
import { stdioShimBundle } from "../ready-server/bundle.ts"
import { type Account, dataOf } from "../support/account.ts"
import { Berth } from "../support/Berth.ts"
import { describeLong } from "../support/needs.ts"
import { type NpmRegistry, startNpmRegistry } from "./support/npm-registry.ts"
import { stdioServer } from "./support/stdio-server.ts"

const missing = process.platform === "linux" ? undefined : "machines run on Linux only"

describeLong("packages that many deploy", () => {
  const berth = new Berth()
  let registry: NpmRegistry

  beforeAll(async () => {
    await stdioShimBundle()
    registry = await startNpmRegistry()
    for (const name of ["slow-one", "slow-two", "quick"]) {
      await registry.publish(name, "1.0.0", { "a.js": stdioServer() }, { bin: "a.js" })
    }
    // Of many files without a byte.
    const crumbs = Array.from({ length: 50_001 }, (_, at) => [`d${at % 500}/f${at}`, ""])
    await registry.publish("crumbs", "1.0.0", { "a.js": stdioServer(), ...Object.fromEntries(crumbs) }, { bin: "a.js" })
    await berth.start({
      machines: true,
      variables: { NPM_REGISTRY: registry.url, ALLOWED_PRIVATE_HOSTS: registry.host }
    })
  }, 60_000)
  afterAll(async () => {
    await berth.stop()
    await registry.close()
  })

  const begin = async (owner: Account, name: string, wait = false) => {
    const server = await owner.server((await owner.project()).id, { healthTimeoutSeconds: 30 })
    const path = `/v1/servers/${server.id}`
    const body = { imageUri: `npm:${name}`, wait }
    const { id, ...begun } = dataOf(
      await owner.post<{ data: { id: string; status: string; errorMessage?: string } }>(`${path}/deploy`, body)
    )
    const messages = async () => {
      const { body } = await owner.get<{ data: { items: ReadonlyArray<{ message: string }> } }>(`${path}/logs`)
      return body.data.items.map(({ message }) => message).join("\n")
    }
    const read = async () => dataOf(await owner.get<{ data: { status: string } }>(`${path}/deployments/${id}`))
    return { ...begun, messages, read }
  }

  it("wait for others of their own account, which is told so, and not for those of other accounts", async () => {
    const letGo = ["slow-one", "slow-two"].map((name) => registry.hold(name))
    const [greedy, other] = [await berth.signUp("enterprise"), await berth.signUp("enterprise")]
    const mine = [await begin(greedy, "slow-one"), await begin(greedy, "slow-two")]
    await expect.poll(async () => (await Promise.all(mine.map(({ messages }) => messages()))).join("\n"), {
      timeout: 10_000
    }).toContain("waiting: another package of this account is being installed")
    expect(await begin(other, "quick", true)).toMatchObject({ status: "running" })
    for (const { read } of mine) expect(await read()).toMatchObject({ status: "building" })
    for (const go of letGo) go()
    for (const { read } of mine) {
      await expect.poll(read, { timeout: 40_000 }).toMatchObject({ status: "running" })
    }
  }, 90_000)

  it("have so many files and no more, however small they are", async () => {
    const { errorMessage } = await begin(await berth.signUp("enterprise"), "crumbs", true)
    expect(errorMessage).toBe("resolving: npm wrote more than 50,000 files")
  }, 60_000)
}, missing)
