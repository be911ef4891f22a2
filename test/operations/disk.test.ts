import { statfsSync } from "node:fs"
import { tmpdir } from "node:os"
import { describe, expect, it } from "vitest"
import { failure } from "../contract/shapes.ts"
import { useBerth } from "../support/Berth.ts"
import { businesses, newBusiness } from "../support/business.ts"
import { upload } from "../support/imports.ts"
import { callTool, connectMcp } from "../support/mcp.ts"

const csv = "name\nSoup\n"

describe("with less free than DISK_RESERVE", () => {
  const berth = useBerth({ variables: { DISK_RESERVE: "999999tb" } })

  it("imports, deploys and publications are refused, by both doors, and the rest is not", async () => {
    const owner = await berth.signUp("pro")
    const business = await newBusiness(owner)
    const server = await owner.server(business.projectId)
    const refusals = [
      await upload(owner, business.id, "a.csv", csv),
      await owner.post(`${businesses}/publish`, { filename: "a.csv", content: csv, name: "Copper Ladle" }),
      await owner.post(`/v1/servers/${server.id}/deploy`, { imageUri: "registry.example/app:1" })
    ]
    for (const [at, { body, headers, status }] of refusals.entries()) {
      const code = at === 2 ? "SERVICE_UNAVAILABLE" : "service_unavailable"
      expect([status, body, headers.get("retry-after")], String(at)).toEqual([503, failure(code), "60"])
    }
    expect(refusals[0]?.text).toContain("The platform is low on disk space")
    const client = await connectMcp(berth.url, { token: owner.token })
    const called = await callTool(client, "deploy", { serverId: server.id, imageUri: "registry.example/app:1" })
    expect(called.isError).toBe(true)
    await client.close()
    expect((await owner.get<{ data: ReadonlyArray<unknown> }>(`/v1/servers/${server.id}/deployments`)).body.data)
      .toEqual([])
    expect((await owner.get<{ data: ReadonlyArray<unknown> }>(businesses)).body.data).toHaveLength(1)
    // Once for the state, not once a request.
    expect(berth.logged.filter((line) => line.includes("DISK_RESERVE"))).toEqual([
      expect.stringMatching(/^[\d:]+ ERROR .* uploads and deploys are refused/)
    ])
  })
})

describe("with less free than twice DISK_RESERVE", () => {
  const { bavail, bsize } = statfsSync(tmpdir())
  const berth = useBerth({ variables: { DISK_RESERVE: `${Math.floor(bavail * bsize * 0.7 / 1024)}kb` } })

  it("the log warns, and everything is taken", async () => {
    const owner = await berth.signUp("pro")
    const { id } = await newBusiness(owner)
    for (let n = 0; n < 2; n++) expect((await upload(owner, id, "a.csv", csv)).status).toBe(200)
    expect(berth.logged.filter((line) => line.includes("DISK_RESERVE"))).toEqual([
      expect.stringMatching(/^[\d:]+ WARN .* are free on the disk of /)
    ])
  })
})
