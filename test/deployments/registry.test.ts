import { Effect } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { type Account, dataOf, type Server } from "../support/account.ts"
import { Berth } from "../support/Berth.ts"
import { describeWhen } from "../support/needs.ts"
import { imageFromLayout, missingDockerRegistry, pushImage, startDockerRegistry } from "../support/registry.ts"
import { appImage, missingForApps } from "./support/app-image.ts"

interface Deployed {
  readonly status: string
  readonly errorMessage?: string
  readonly imageDigest: string | null
  readonly active: boolean
}

describeWhen(missingDockerRegistry ?? missingForApps, "an image in a real registry", () => {
  const berth = new Berth()
  let registry: Awaited<ReturnType<typeof startDockerRegistry>>
  let owner: Account
  let server: Server

  const deploy = async (imageUri: string) =>
    dataOf(await owner.post<{ data: Deployed }>(`/v1/servers/${server.id}/deploy`, { imageUri }))

  beforeAll(async () => {
    registry = await startDockerRegistry()
    await berth.start({ machines: true, variables: { ALLOWED_PRIVATE_HOSTS: registry.host } })
    owner = await berth.signUp()
    server = await owner.server((await owner.project()).id)
  })
  afterAll(async () => {
    await berth.stop()
    await registry.close()
  })

  it("is deployed by its tag, pinned to the digest that the tag had", async () => {
    const layout = (await Effect.runPromise(appImage("healthy"))).slice("oci:".length)
    const image = imageFromLayout(layout)
    const deployed = await deploy(await pushImage(registry.host, "acme/menu", image, "v1"))
    assert.strictEqual(deployed.status, "running", deployed.errorMessage)
    assert.isTrue(deployed.active)
    assert.strictEqual(deployed.imageDigest, image.digest)
    const again = await deploy(`${registry.host}/acme/menu@${image.digest}`)
    assert.strictEqual(again.imageDigest, image.digest)
  }, 60_000)

  it("that does not exist fails in the stage that looked for it, and what served goes on", async () => {
    const failed = await deploy(`${registry.host}/acme/nothing:v1`)
    assert.strictEqual(failed.status, "failed")
    assert.match(failed.errorMessage ?? "", /^resolving: .*acme\/nothing/)
    assert.strictEqual(dataOf(await owner.get<{ data: Server }>(`/v1/servers/${server.id}`)).status, "running")
  }, 60_000)

  it("at a private address that nobody allowed is refused without a connection", async () => {
    const failed = await deploy("127.0.0.1:1/acme/menu:v1")
    assert.strictEqual(failed.status, "failed")
    assert.match(failed.errorMessage ?? "", /^resolving: /)
  }, 60_000)
})
