import { CallToolResultSchema, type Progress } from "@modelcontextprotocol/sdk/types.js"
import { Effect } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type Account, dataOf, type Project, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { callTool, connectMcp } from "../support/mcp.ts"
import { describeWhen, itLong } from "../support/needs.ts"
import { missingForApps } from "./support/app-image.ts"
import { mcpImage } from "./support/mcp-image.ts"

interface Deployment {
  readonly id: string
  readonly status: string
  readonly progress: string | null
}

const image = (...options: Parameters<typeof mcpImage>) => Effect.runPromise(mcpImage(...options))

describeWhen(missingForApps, "a deployment that takes its time", () => {
  const berth = useBerth({ machines: true })
  let owner: Account
  let project: Project
  beforeAll(async () => {
    owner = await berth.signUp("enterprise")
    project = await owner.project()
  })
  afterAll(() => owner.delete(`/v1/projects/${project.id}`))

  const make = (fields: Readonly<Record<string, unknown>> = {}) => owner.server(project.id, fields)
  const at = ({ id }: Server) => `/v1/servers/${id}`
  const logOf = async (server: Server) => {
    const path = `${at(server)}/logs?limit=200`
    const { items } = dataOf(await owner.get<{ data: { items: ReadonlyArray<{ message: string }> } }>(path))
    return items.map(({ message }) => message)
  }

  itLong("tells what it waits for every five seconds: by progress, log and record", async () => {
    const server = await make({ healthTimeoutSeconds: 7 })
    const imageUri = await image("streamable", [], ["LISTEN=3000"])
    const client = await connectMcp(berth.url, { token: owner.token })
    const told: Array<Progress> = []
    const call = client.callTool(
      { name: "deploy", arguments: { serverId: server.id, imageUri } },
      CallToolResultSchema,
      { onprogress: (progress) => void told.push(progress), timeout: 60_000 }
    )
    const newest = async () =>
      (await owner.get<{ data: ReadonlyArray<Deployment> }>(`${at(server)}/deployments`)).body.data[0]
    const waiting = /^Still waiting after 5 s: \/healthz did not answer: .*; it listens on 3000 instead/
    await expect.poll(async () => (await newest())?.progress, { timeout: 20_000 }).toMatch(waiting)
    expect((await call).structuredContent).toMatchObject({ status: "failed", progress: null })
    expect(told.filter(({ message }) => waiting.test(message ?? ""))).toHaveLength(1)
    for (const [i, { progress }] of told.entries()) expect(progress).toBeGreaterThan(told[i - 1]?.progress ?? -1)
    expect(await logOf(server)).toContainEqual(expect.stringMatching(/^Deployment 1: Still waiting after 5 s: /))
    await client.close()
  }, 60_000)

  it("is not waited for with wait: false: by HTTP and tool, deploy and rollback", async () => {
    const server = await make()
    const imageUri = await image("streamable")
    const path = `${at(server)}/deployments`
    const ended = (id: string) =>
      expect.poll(async () => dataOf(await owner.get<{ data: Deployment }>(`${path}/${id}`)).status, {
        timeout: 20_000
      })
        .toBe("running")
    const begun = await owner.post<{ data: Deployment }>(`${at(server)}/deploy`, { imageUri, wait: false })
    expect([begun.status, begun.headers.get("location")]).toEqual([202, `${path}/${begun.body.data.id}`])
    expect(begun.body.data).toMatchObject({ status: "pending", progress: "Waiting to begin", admittedBy: null })
    await ended(begun.body.data.id)
    const client = await connectMcp(berth.url, { token: owner.token })
    for (const [name, input] of [["deploy", { imageUri }], ["rollback", { version: 1 }]] as const) {
      const { structuredContent } = await callTool(client, name, { serverId: server.id, ...input, wait: false })
      expect(structuredContent, name).toMatchObject({ status: "pending" })
      await ended((structuredContent as unknown as Deployment).id)
    }
    await client.close()
    const back = await owner.post<{ data: Deployment }>(`${at(server)}/rollback`, { version: 1, wait: false })
    expect(back.status).toBe(202)
    await ended(back.body.data.id)
    expect((await owner.post(`${at(server)}/deploy`, { imageUri, wait: "no" })).status).toBe(422)
  }, 60_000)
})
