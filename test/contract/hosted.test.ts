import { buildReadyImage } from "#src/ready-image/build-image.ts"
import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect } from "vitest"
import { readyServerBundle } from "../ready-server/bundle.ts"
import { restaurant } from "../ready-server/config.ts"
import { type Account, dataOf, type Project } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { callTool, connectMcp } from "../support/mcp.ts"
import { describeLong } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { row } from "./row.ts"

const notLinux = process.platform === "linux" ? undefined : "the ready image is made of this Node, on Linux only"

describeLong("a hosted server", () => {
  const berth = useBerth({ machines: true })
  let owner: Account
  let project: Project
  beforeAll(async () => {
    owner = await berth.signUp("enterprise")
    project = await owner.project()
  })
  afterAll(() => owner.delete(`/v1/projects/${project.id}`))

  row(
    "a container listens on PORT, answers GET /healthz with 200 and JSON, and serves MCP at /sse and /message",
    async () => {
      const home = temporaryDirectory("ready")
      const bundle = join(home, "server.js")
      copyFileSync(await readyServerBundle(), bundle)
      const { path } = await buildReadyImage(join(home, "layout"), { server: bundle })
      const server = await owner.server(project.id)
      await owner.put(`/v1/servers/${server.id}/env/SVC_READY_CONFIG`, { value: JSON.stringify(restaurant) })
      const deployed = await owner.post(`/v1/servers/${server.id}/deploy`, { imageUri: `oci:${path}` })
      expect([deployed.status, deployed.body]).toMatchObject([201, { data: { status: "running" } }])
      const { accessToken: token } = dataOf(
        await owner.request<{ data: { accessToken: string } }>("POST", `/v1/servers/${server.id}/test-token`)
      )
      const health = await berth.request("GET", `/s/${server.slug}/healthz`, { token })
      expect([health.status, typeof health.body]).toEqual([200, "object"])
      for (const way of ["SSE", "Streamable HTTP"] as const) {
        const client = await connectMcp(server.publicUrl, { token, way })
        expect((await client.listTools()).tools.map(({ name }) => name)).toContain("browse_catalog")
        const { content } = await callTool(client, "browse_catalog")
        expect(JSON.stringify(content)).toMatch(/\d/)
        await client.close()
      }
      await expect(connectMcp(server.publicUrl, { token: owner.token })).rejects.toThrow()
    }
  )
}, notLinux)
