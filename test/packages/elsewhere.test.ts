import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { anyMachines } from "../scanning/support/scanned.ts"
import { dataOf } from "../support/account.ts"
import { Berth } from "../support/Berth.ts"
import { type NpmRegistry, startNpmRegistry } from "./support/npm-registry.ts"

describe("a package of npm, or one that it needs, whose file the registry has at another host", () => {
  const berth = new Berth()
  let registry: NpmRegistry
  beforeAll(async () => {
    registry = await startNpmRegistry()
    const variables = { NPM_REGISTRY: registry.url, ALLOWED_PRIVATE_HOSTS: registry.host }
    await berth.start({ machines: anyMachines(), variables })
  })
  afterAll(async () => {
    await berth.stop()
    await registry.close()
  })

  // npm by itself takes the second for the registry that it is told to use.
  it.each(["files.example.net", "registry.npmjs.org"])("is not installed, and the host is named: %s", async (host) => {
    const name = `at-${host.replaceAll(".", "-")}`
    const place = `https://${host}/${name}/-/1.0.0.tgz`
    await registry.publish(name, "1.0.0", { "a.js": "" }, { bin: "a.js" }, [], place)
    await registry.publish(`needs-${name}`, "1.0.0", { "a.js": "" }, { bin: "a.js", dependencies: { [name]: "1" } })
    const owner = await berth.signUp("enterprise")
    const { id } = await owner.server((await owner.project()).id)
    for (const imageUri of [`npm:${name}`, `npm:needs-${name}`]) {
      const deployed = dataOf(await owner.post<{ data: object }>(`/v1/servers/${id}/deploy`, { imageUri }))
      expect(deployed, imageUri).toMatchObject({
        status: "failed",
        errorMessage: `resolving: ${name} comes from ${place}; all packages must come from ${registry.url}`
      })
    }
  }, 30_000)
})
