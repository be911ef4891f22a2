import { Effect, Exit, Scope } from "effect"
import { readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type Account, dataOf, type Server } from "../support/account.ts"
import { Berth } from "../support/Berth.ts"
import { startBreakable } from "../support/breakable.ts"
import { freshDatabaseUrl } from "../support/Database.ts"
import { describeLong } from "../support/needs.ts"
import { imageFromLayout, missingDockerRegistry, startDockerRegistry, startFakeRegistry } from "../support/registry.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { appImage, missingForApps } from "./support/app-image.ts"

interface Deployed {
  readonly version: number
  readonly status: string
  readonly errorMessage?: string
  readonly imageDigest: string
}

describeLong("an installation with a registry of its own", () => {
  const home = temporaryDirectory("mirrored")
  const scope = Effect.runSync(Scope.make())
  const berth = new Berth()
  let early: string
  let source: Awaited<ReturnType<typeof startFakeRegistry>>
  let registry: Awaited<ReturnType<typeof startDockerRegistry>>
  let proxy: Awaited<ReturnType<typeof startBreakable>>
  let owner: Account
  let server: Server

  const image = async (note: string) => {
    const layout = (await Effect.runPromise(appImage("healthy", { note }))).slice("oci:".length)
    return source.add("acme/menu", imageFromLayout(layout), note)
  }
  const deploy = async (imageUri: string) =>
    dataOf(await owner.post<{ data: Deployed }>(`/v1/servers/${server.id}/deploy`, { imageUri }))
  const rollback = async (version: number) =>
    dataOf(await owner.post<{ data: Deployed }>(`/v1/servers/${server.id}/rollback`, { version }))
  const statusThere = async (digest: string) => {
    const headers = { accept: "application/vnd.oci.image.manifest.v1+json" }
    return (await fetch(`http://${registry.host}/v2/team/berth/manifests/${digest}`, { headers })).status
  }
  const log = async () => {
    const path = `/v1/servers/${server.id}/logs?limit=200`
    const { items } = dataOf(await owner.get<{ data: { items: ReadonlyArray<{ message: string }> } }>(path))
    return items.map(({ message }) => message).join("\n")
  }
  const isRunning = async () =>
    dataOf(await owner.get<{ data: Server }>(`/v1/servers/${server.id}`)).status === "running"

  beforeAll(async () => {
    source = await startFakeRegistry()
    registry = await startDockerRegistry()
    proxy = await startBreakable(registry.host)
    const databaseUrl = await Effect.runPromise(Scope.extend(freshDatabaseUrl, scope))
    const variables = { BERTH_HOME: home, ALLOWED_PRIVATE_HOSTS: source.host }
    const begin = async (platform: Berth, more: Readonly<Record<string, string>> = {}) => {
      await platform.start({ databaseUrl, machines: true, variables: { ...variables, ...more } })
      owner = await platform.signUp("enterprise")
      server = await owner.server((await owner.project()).id)
    }
    const before = new Berth()
    await begin(before)
    early = (await deploy(await image("early"))).imageDigest
    await before.stop()
    await begin(berth, { REGISTRY_URL: `http://${proxy.host}/team/berth` })
  }, 60_000)
  afterAll(async () => {
    await berth.stop()
    await Effect.runPromise(Scope.close(scope, Exit.void))
    await Promise.all([source, registry, proxy].map(({ close }) => close()))
  })

  it("copies there what was deployed before it had one", async () => {
    await expect.poll(() => statusThere(early), { timeout: 20_000 }).toBe(200)
  }, 30_000)

  it("copies there what it deploys, and says so", async () => {
    for (const note of ["one", "two"]) {
      const deployed = await deploy(await image(note))
      expect(deployed).toMatchObject({ status: "running" })
      expect(await statusThere(deployed.imageDigest)).toBe(200)
    }
    expect(await log()).toContain("Deployment 1: the image is in the platform's registry too")
  }, 120_000)

  it("fails a deployment that cannot be copied, with what is wrong there, and what serves goes on", async () => {
    proxy.breaks(({ method }) => method === "POST" ? { status: 507 } : undefined)
    const failed = await deploy(await image("three"))
    expect(failed).toMatchObject({
      status: "failed",
      errorMessage: "mirroring: the image can't be copied to the platform's registry: it has no room left"
    })
    expect(await statusThere(failed.imageDigest)).toBe(404)
    expect(await isRunning()).toBe(true)
    proxy.breaks(({ method }) => method === "PATCH" ? { cutAfter: 100 } : undefined)
    expect((await deploy(await image("four"))).errorMessage).toMatch(/^mirroring: .* it could not be reached/)
    expect(await isRunning()).toBe(true)
  }, 120_000)

  it("rolls back while the registry is away", async () => {
    proxy.breaks(() => ({ status: 503 }))
    expect(await rollback(1)).toMatchObject({ status: "running" })
    expect(await rollback(2)).toMatchObject({ status: "running" })
    proxy.breaks()
  }, 60_000)

  it("rolls back to an image that its own registry and this host have lost", async () => {
    source.blobs.clear()
    source.manifests.clear()
    const blobs = join(home, "images", "blobs", "sha256")
    const before = readdirSync(blobs).length
    rmSync(join(home, "images"), { recursive: true })
    rmSync(join(home, "rootfs"), { recursive: true })
    const back = await rollback(1)
    expect(back.errorMessage).toBeUndefined()
    expect(back).toMatchObject({ status: "running" })
    expect(readdirSync(blobs).length).toBeLessThanOrEqual(before)
    expect(proxy.seen.filter(({ method, path }) => method === "GET" && path.includes("/blobs/")).length)
      .toBeGreaterThan(1)
  }, 60_000)

  it("removes there what no version needs any more", async () => {
    const versions = dataOf(
      await owner.get<{ data: ReadonlyArray<Deployed> }>(`/v1/servers/${server.id}/deployments?limit=50`)
    )
    await owner.request("DELETE", `/v1/servers/${server.id}`)
    for (const digest of new Set(versions.map(({ imageDigest }) => imageDigest))) {
      await expect.poll(() => statusThere(digest), { timeout: 20_000 }).toBe(404)
    }
  }, 60_000)
}, missingDockerRegistry ?? missingForApps)
