import { Effect } from "effect"
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, it } from "vitest"
import { appImage, missingForApps } from "../deployments/support/app-image.ts"
import { type Account, dataOf, type Server } from "../support/account.ts"
import { Berth } from "../support/Berth.ts"
import { describeWhen, missingProgram } from "../support/needs.ts"
import { imageFromLayout } from "../support/registry.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { refusal, RegistryClient } from "./support/client.ts"

interface Deployed {
  readonly status: string
  readonly errorMessage?: string
  readonly imageDigest: string | null
  readonly version: number
}

const skopeo = (...args: ReadonlyArray<string>) => promisify(execFile)("skopeo", [...args], { timeout: 60_000 })

describeWhen(missingProgram("skopeo") ?? missingForApps, "an image pushed by skopeo", () => {
  const berth = new Berth()
  const home = temporaryDirectory("pushed")
  let owner: Account
  let server: Server
  let key: string
  let repository: string
  let client: RegistryClient

  const push = async (layout: string, tag: string) => {
    await skopeo("copy", "--dest-tls-verify=false", `--dest-creds=any:${key}`, layout, `docker://${repository}:${tag}`)
    return imageFromLayout(layout.slice("oci:".length))
  }
  const deploy = async (imageUri: string) =>
    dataOf(await owner.post<{ data: Deployed }>(`/v1/servers/${server.id}/deploy`, { imageUri }))
  const stored = (digest: string) => existsSync(join(home, "images", "blobs", ...digest.split(":")))
  const collected = async (digest: string) => {
    for (let tries = 0; stored(digest) && tries < 200; tries++) await setTimeout(50)
    return !stored(digest)
  }

  beforeAll(async () => {
    await berth.start({ machines: true, variables: { BERTH_HOME: home } })
    owner = await berth.signUp("pro")
    const project = await owner.project()
    server = await owner.server(project.id, { healthTimeoutSeconds: 10 })
    key = (await owner.key(project.id, ["deployments:read", "deployments:write"])).key
    repository = `${new URL(berth.url).host}/${project.slug}/menu`
    client = new RegistryClient(owner, `${project.slug}/menu`)
  })
  afterAll(berth.stop)

  it("is what is pulled and what is deployed, by tag and by digest", async () => {
    const image = await push(await Effect.runPromise(appImage("healthy", { note: "one" })), "v1")
    const pulled = join(temporaryDirectory("pulled"), "layout")
    await skopeo("copy", "--src-tls-verify=false", `--src-creds=any:${key}`, `docker://${repository}:v1`, `oci:${pulled}:latest`)
    expect(imageFromLayout(pulled).digest).toBe(image.digest)
    const deployed = await deploy(`${repository}:v1`)
    expect([deployed.errorMessage, deployed.status, deployed.imageDigest]).toEqual([undefined, "running", image.digest])
    const { accessToken: token } = dataOf(
      await owner.post<{ data: { accessToken: string } }>(`/v1/servers/${server.id}/test-token`, {})
    )
    const answer = await berth.request<{ NOTE: string }>("GET", `/s/${server.slug}/env`, { token })
    expect([answer.status, answer.body.NOTE]).toEqual([200, "one"])
    expect((await deploy(`${repository}@${image.digest}`)).imageDigest).toBe(image.digest)
  }, 90_000)

  it("stays for a rollback when its tag goes, and goes with what needed it", async () => {
    const second = await push(await Effect.runPromise(appImage("healthy", { note: "two" })), "v2")
    const { version } = await deploy(`${repository}:v2`)
    const third = await push(await Effect.runPromise(appImage("healthy", { note: "three" })), "v3")
    await deploy(`${repository}:v3`)
    expect((await client.ask("DELETE", "manifests/v2")).status).toBe(202)
    expect((await deploy(`${repository}:v2`)).errorMessage).toMatch(/^resolving: .* was not pushed by this account/)
    await setTimeout(500)
    expect(stored(second.digest)).toBe(true)
    const back = await owner.post<{ data: Deployed }>(`/v1/servers/${server.id}/rollback`, { version })
    expect(dataOf(back).imageDigest).toBe(second.digest)
    await owner.delete(`/v1/servers/${server.id}`)
    expect(await collected(second.digest)).toBe(true)
    expect(stored(third.digest)).toBe(true)
    expect((await client.ask("GET", "manifests/v3")).status).toBe(200)
  }, 90_000)

  it("of another account is not found, and all of a deleted project goes", async () => {
    const image = await push(await Effect.runPromise(appImage("healthy", { note: "four" })), "v4")
    const stranger = await berth.signUp("pro")
    const other = await stranger.server((await stranger.project()).id)
    for (const uri of [`${repository}:v4`, `${repository}@${image.digest}`]) {
      const failed = dataOf(await stranger.post<{ data: Deployed }>(`/v1/servers/${other.id}/deploy`, { imageUri: uri }))
      expect(failed.errorMessage).toMatch(/^resolving: .* was not pushed by this account/)
    }
    await owner.delete(`/v1/projects/${server.projectId}`)
    expect(await collected(image.digest)).toBe(true)
    expect(refusal(await client.ask("GET", "manifests/v4"))).toEqual([404, "NAME_UNKNOWN"])
  }, 90_000)
})
