import { randomBytes } from "node:crypto"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { missingForApps } from "../../deployments/support/app-image.ts"
import { stdioShimBundle } from "../../ready-server/bundle.ts"
import { type Account, type Server } from "../../support/account.ts"
import { useBerth } from "../../support/Berth.ts"
import { type PassedRequest, startBreakable } from "../../support/breakable.ts"
import { describeLong } from "../../support/needs.ts"
import { temporaryDirectory } from "../../support/Settings.ts"
import { RegistryClient } from "../../uploads/support/client.ts"
import { berthCli } from "../mcp/run.ts"

const cut = 2 * 1024 ** 2

describeLong("berth deploy with a folder, whose push breaks off", () => {
  const berth = useBerth({ machines: true })
  const home = temporaryDirectory("cli")
  const project = join(temporaryDirectory("project"), "hello")
  let owner: Account
  let proxy: Awaited<ReturnType<typeof startBreakable>>

  const deploy = () =>
    berthCli(["deploy", project], {
      XDG_CONFIG_HOME: home,
      XDG_CACHE_HOME: home,
      BERTH_URL: `http://${proxy.host}`,
      BERTH_TOKEN: owner.token
    })
  const isChunk = ({ method, path }: PassedRequest) => method === "PATCH" && path.includes("/blobs/uploads/")
  const uploadOf = ({ path }: PassedRequest) => path.split("?", 1)[0]

  beforeAll(async () => {
    await stdioShimBundle()
    owner = await berth.signUp("pro")
    proxy = await startBreakable(new URL(berth.url).host)
    mkdirSync(project)
    writeFileSync(join(project, "package.json"), JSON.stringify({ name: "hello", scripts: { start: "node app.cjs" } }))
    writeFileSync(
      join(project, "app.cjs"),
      `require("node:http").createServer((_, response) => {
        response.setHeader("content-type", "application/json")
        response.end("{}")
      }).listen(process.env.PORT)`
    )
    // What can't be compressed makes a layer of its size.
    writeFileSync(join(project, "data.bin"), randomBytes(3 * cut))
  })
  afterAll(() => proxy.close())

  it("sends what had not arrived, and nothing again", async () => {
    let broken: PassedRequest | undefined
    proxy.breaks((request) => {
      if (broken !== undefined || !isChunk(request) || request.size < 2 * cut) return undefined
      broken = request
      return { cutAfter: cut }
    })
    const { code, err, out } = await deploy()
    expect([code, err]).toEqual([0, expect.stringContaining("Pushed: ")])
    expect(out).toMatch(/^Deployment +running$/m)
    const of = proxy.seen.filter((request) => uploadOf(request) === uploadOf(broken!))
    const sent = of.filter(isChunk).reduce((sum, { bytes }) => sum + bytes, 0)
    const { body: { data: [server] } } = await owner.get<{ data: ReadonlyArray<Server> }>("/v1/servers")
    const client = new RegistryClient(owner, `${server?.projectId.toLowerCase()}/${server?.slug}`)
    const { body } = await client.ask("GET", "manifests/latest")
    const sizes = (body as { readonly layers: ReadonlyArray<{ readonly size: number }> }).layers.map(({ size }) => size)
    // Sent from its start again, the layer would have travelled whole besides what was cut off.
    expect(sizes.filter((size) => size <= sent && sent < size + cut)).toHaveLength(1)
    expect(of.some(({ method }) => method === "GET")).toBe(true)
  }, 60_000)

  it("ends when it breaks each time, and the next one sends only the layers that are missing", async () => {
    writeFileSync(join(project, "data.bin"), randomBytes(3 * cut))
    proxy.breaks((request) => isChunk(request) && request.size > cut ? { status: 503 } : undefined)
    expect((await deploy()).code).not.toBe(0)
    proxy.breaks()
    const { code, err } = await deploy()
    expect([code, err]).toEqual([0, expect.stringMatching(/Pushed: [67]\.\d MB sent, [1-9]\d*\.\d MB were there/)])
  }, 60_000)
}, missingForApps)
