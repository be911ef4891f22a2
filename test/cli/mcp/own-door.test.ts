import { beforeAll, describe, expect, it } from "vitest"
import { type Account, type Server } from "../../support/account.ts"
import { useBerth } from "../../support/Berth.ts"
import { temporaryDirectory } from "../../support/Settings.ts"
import { berthCli } from "./run.ts"

describe("berth call of an installation's own tools", () => {
  const berth = useBerth()
  const home = temporaryDirectory("own-door")
  let owner: Account
  let server: Server
  beforeAll(async () => {
    owner = await berth.signUp()
    server = await owner.server((await owner.project()).id)
  })

  const call = (tool: string, input: object, ...more: ReadonlyArray<string>) =>
    berthCli(["call", `${berth.url}/mcp`, tool, "--input", JSON.stringify(input), ...more], {
      XDG_CONFIG_HOME: home,
      BERTH_TOKEN: owner.token
    })

  it("tells what is wrong with each argument on a line of its own, and an error by its sentence and code", async () => {
    const { code, err, out } = await call("create_server", { projectId: "x", name: " ", region: "moon" })
    expect([code, out]).toEqual([1, ""])
    expect(err).toBe("name: must not be blank\nregion: must be one of ord, iad, lax, ams, syd")
    expect(await call("get_server", { serverId: "srv_x" })).toEqual({
      code: 4,
      out: "",
      err: "There is no such server"
    })
  })

  it("ends with 5 where the deployment failed that it waited for, and prints it", async () => {
    const deployment = { serverId: server.id, imageUri: "oci:/nowhere" }
    const { code, err, out } = await call("deploy", deployment)
    expect([code, err.split("\n").at(-1)]).toEqual([5, "The deployment failed"])
    expect(out).toMatch(/^status: failed$[^]*^errorMessage: resolving: oci:\/nowhere does not exist/m)
    const [, deploymentId] = /^id: (dep_\w+)$/m.exec(out) ?? []
    const waited = await call("wait_for_deployment", { serverId: server.id, deploymentId }, "--json")
    expect(waited.code).toBe(5)
    expect(JSON.parse(waited.out)).toMatchObject({
      structuredContent: { deployment: { id: deploymentId, status: "failed" } }
    })
    expect(JSON.parse(waited.err)).toMatchObject({ error: { code: "DEPLOYMENT_FAILED", exitCode: 5 } })
    // To read of one that has failed is no failure.
    expect((await call("get_deployment", { serverId: server.id, deploymentId })).code).toBe(0)
  }, 30_000)
})
