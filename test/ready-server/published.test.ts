import { buildReadyImage } from "#src/ready-image/build-image.ts"
import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { beforeAll, expect, it } from "vitest"
import { dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { businesses } from "../support/business.ts"
import { describeLong } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { readyServerBundle } from "./bundle.ts"

const menu = "name,price,category\nTomato Soup,$6.50,Starters\n"

describeLong("a published business", () => {
  const variables: Record<string, string> = {}
  beforeAll(async () => {
    const bundle = join(temporaryDirectory("ready"), "server.js")
    copyFileSync(await readyServerBundle(), bundle)
    const { path } = await buildReadyImage(join(temporaryDirectory("ready"), "layout"), { server: bundle })
    variables["READY_IMAGE"] = `oci:${path}`
  }, 120_000)
  const berth = useBerth({ machines: true, variables })

  it("has a SKILL.md that names the tools of its server, as its deployment found them", async () => {
    const owner = await berth.signUp("enterprise")
    const { deployment, listing, serverId } = dataOf(
      await owner.post<{
        data: {
          serverId: string
          listing: { id: string }
          deployment: {
            mcp: { ok: boolean; revision: string; tools: ReadonlyArray<{ name: string; description: string }> }
          }
        }
      }>(`${businesses}/publish`, {
        filename: "menu.csv",
        content: menu,
        name: "Copper Ladle",
        templateType: "restaurant"
      })
    )
    expect(deployment.mcp).toMatchObject({
      ok: true,
      transport: "streamable-http",
      revision: "2025-11-25",
      problem: null
    })
    const names = deployment.mcp.tools.map(({ name }) => name)
    expect(names).toContain("browse_catalog")
    const skill = (await berth.request("GET", `/api/v1/hub/listings/${listing.id}/skill.md`)).text
    const listed = [...skill.matchAll(/^- `(\w+)`: \S/gm)].map(([, name]) => name)
    expect(listed).toEqual(names)
    const { items } = dataOf(
      await owner.get<{ data: { items: ReadonlyArray<{ message: string }> } }>(
        `/v1/servers/${serverId}/logs?search=MCP`
      )
    )
    expect(items.map(({ message }) => message)).toContainEqual(expect.stringContaining(`${names.length} tools (`))
  }, 60_000)
})
