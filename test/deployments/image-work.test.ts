import { Effect } from "effect"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type NpmRegistry, startNpmRegistry } from "../packages/support/npm-registry.ts"
import { stdioServer } from "../packages/support/stdio-server.ts"
import { traces } from "../program/support/traces.ts"
import { stdioShimBundle } from "../ready-server/bundle.ts"
import { type Account, dataOf, type Project, type Server } from "../support/account.ts"
import { Berth } from "../support/Berth.ts"
import { describeWhen } from "../support/needs.ts"
import { imageFromLayout } from "../support/registry.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { missingForApps } from "./support/app-image.ts"
import { mcpImage } from "./support/mcp-image.ts"

interface Deployment {
  readonly id: string
  readonly status: string
}

describeWhen(missingForApps, "the work on a deployment's image", () => {
  const home = temporaryDirectory("image-work")
  const berth = new Berth()
  let registry: NpmRegistry
  let owner: Account
  let project: Project

  beforeAll(async () => {
    await stdioShimBundle()
    registry = await startNpmRegistry()
    await registry.publish("held", "1.0.0", { "a.js": stdioServer() }, { bin: "a.js" })
    const variables = { BERTH_HOME: home, NPM_REGISTRY: registry.url, ALLOWED_PRIVATE_HOSTS: registry.host }
    await berth.start({ machines: true, variables })
    owner = await berth.signUp("enterprise")
    project = await owner.project()
  }, 60_000)
  afterAll(async () => {
    await berth.stop()
    await registry.close()
  })

  const at = ({ id }: Server) => `/v1/servers/${id}`
  const begin = async (server: Server, imageUri: string, wait: boolean) =>
    dataOf(await owner.post<{ data: Deployment }>(`${at(server)}/deploy`, { imageUri, wait }))
  /** Installers of this home, and the folders in which they work. */
  const atWork = () => [
    ...traces(home).processes.filter(({ command }) => command.includes("npm-cli.js")).map(({ command }) => command),
    ...readdirSync(join(home, "packages")).filter((name) => name.startsWith("."))
  ]

  it("ends when it is canceled, or its server or project is deleted, and leaves its place to others", async () => {
    const ends: ReadonlyArray<(server: Server, of: Project, id: string) => Promise<unknown>> = [
      (server, _, id) => owner.post(`${at(server)}/deployments/${id}/cancel`, {}),
      (server) => owner.delete(at(server)),
      (_, of) => owner.delete(`/v1/projects/${of.id}`)
    ]
    const letGo = registry.hold("held")
    for (const end of ends) {
      const of = await owner.project()
      const server = await owner.server(of.id)
      const asked = registry.seen.length
      const { id } = await begin(server, "npm:held", false)
      await expect.poll(() => registry.seen.length, { timeout: 60_000 }).toBeGreaterThan(asked)
      expect(atWork()).not.toEqual([])
      await end(server, of, id)
      await expect.poll(atWork, { timeout: 20_000 }).toEqual([])
    }
    letGo()
    const server = await owner.server(project.id, { healthTimeoutSeconds: 30 })
    expect(await begin(server, "npm:held", true)).toMatchObject({ status: "running" })
  }, 240_000)

  it("copies a layer that was damaged in the store again, and the deployment runs", async () => {
    const uri = await Effect.runPromise(mcpImage("streamable"))
    const { blobs, manifest } = imageFromLayout(uri.replace(/^oci:/, ""))
    const store = join(home, "images", "blobs", "sha256")
    mkdirSync(store, { recursive: true })
    const [{ digest }] = (JSON.parse(manifest.toString()) as { layers: [{ digest: string }] }).layers
    const good = blobs.get(digest)!
    writeFileSync(join(store, digest.slice("sha256:".length)), Buffer.from(good).reverse())
    const server = await owner.server(project.id, { healthTimeoutSeconds: 30 })
    expect(await begin(server, uri, true)).toMatchObject({ status: "running" })
    expect(Buffer.compare(readFileSync(join(store, digest.slice("sha256:".length))), good)).toBe(0)
  }, 60_000)
})
