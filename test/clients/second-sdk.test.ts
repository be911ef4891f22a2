import { Effect } from "effect"
import { pathToFileURL } from "node:url"
import { afterAll, beforeAll, expect, it } from "vitest"
import { missingForApps } from "../deployments/support/app-image.ts"
import { mcpImage } from "../deployments/support/mcp-image.ts"
import { type Account, type Project, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { describeWhen } from "../support/needs.ts"
import { findPeers } from "./support/peers.ts"

const found = await findPeers()

interface Result {
  readonly isError?: boolean
  readonly content: ReadonlyArray<{ readonly text?: string }>
}

/** What we use of the client of `@modelcontextprotocol/client`. */
interface SecondClient {
  readonly connect: (transport: unknown) => Promise<void>
  readonly getNegotiatedProtocolVersion: () => string | undefined
  readonly setRequestHandler: (method: string, handler: (request: Elicit) => unknown) => void
  readonly callTool: (
    params: { readonly name: string; readonly arguments: object },
    options?: { readonly signal?: AbortSignal; readonly onprogress?: () => void }
  ) => Promise<Result>
  readonly close: () => Promise<void>
}
interface Elicit {
  readonly params: { readonly message: string }
}
interface SecondSdk {
  readonly Client: new(info: object, options: object) => SecondClient
  readonly StreamableHTTPClientTransport: new(url: URL, options: object) => unknown
}

const eras = [["2026-07-28", "auto"], ["2025-11-25", "legacy"]] as const

describeWhen(typeof found === "string" ? found : missingForApps, "the second SDK's client", () => {
  if (typeof found === "string") return
  const berth = useBerth({ machines: true })
  let sdk: SecondSdk
  let owner: Account
  let project: Project
  beforeAll(async () => {
    const file = found.script("@modelcontextprotocol/client/dist/index.mjs")
    sdk = await import(pathToFileURL(file).href) as SecondSdk
    owner = await berth.signUp("enterprise")
    project = await owner.project()
  })
  afterAll(() => owner.delete(`/v1/projects/${project.id}`))

  const connect = async (mode: string, answer: (message: string) => unknown) => {
    const capabilities = { elicitation: { form: {} } }
    const client = new sdk.Client({ name: "test", version: "1.0.0" }, { capabilities, versionNegotiation: { mode } })
    client.setRequestHandler("elicitation/create", ({ params }) => answer(params.message))
    const requestInit = { headers: { authorization: `Bearer ${owner.token}` } }
    await client.connect(new sdk.StreamableHTTPClientTransport(new URL(`${berth.url}/mcp`), { requestInit }))
    return client
  }

  it.each(eras)(
    "in revision %s asks its person before a project is deleted, and heeds a no",
    async (revision, mode) => {
      const asked: Array<string> = []
      let says: object = { action: "decline" }
      const client = await connect(mode, (message) => {
        asked.push(message)
        return says
      })
      expect(client.getNegotiatedProtocolVersion()).toBe(revision)
      const { id } = await owner.project("Old Shop")
      const call = { name: "delete_project", arguments: { projectId: id } }
      expect((await client.callTool(call)).content[0]?.text).toContain("NOT_CONFIRMED")
      expect((await owner.get(`/v1/projects/${id}`)).status).toBe(200)
      says = { action: "accept", content: { confirm: true } }
      expect((await client.callTool(call)).isError ?? false).toBe(false)
      expect((await owner.get(`/v1/projects/${id}`)).status).toBe(404)
      expect(asked).toHaveLength(2)
      await client.close()
    }
  )

  it.each(eras)(
    "in revision %s ends with a canceled call of deploy its waiting, and no deployment",
    async (_, mode) => {
      const imageUri = await Effect.runPromise(mcpImage("streamable", [], ["LISTEN=3000"]))
      const server: Server = await owner.server(project.id, { healthTimeoutSeconds: 30 })
      const messages = async () => {
        const path = `/v1/servers/${server.id}/logs?limit=200`
        const { body } = await owner.get<{ data: { items: ReadonlyArray<{ message: string }> } }>(path)
        return body.data.items.map(({ message }) => message).join("\n")
      }
      const client = await connect(mode, () => ({ action: "cancel" }))
      const canceled = new AbortController()
      const call = client.callTool({ name: "deploy", arguments: { serverId: server.id, imageUri } }, {
        signal: canceled.signal,
        onprogress: () => undefined
      })
      await expect.poll(messages, { timeout: 50_000 }).toContain("Deployment 1: ")
      canceled.abort()
      await expect(call).rejects.toThrow()
      await expect.poll(messages, { timeout: 30_000 }).toContain("it goes on, and cancel_deployment")
      const { body } = await owner.get<{ data: ReadonlyArray<{ id: string; status: string }> }>(
        `/v1/servers/${server.id}/deployments`
      )
      expect(body.data).toMatchObject([{ status: "building" }])
      const end = { serverId: server.id, deploymentId: body.data[0]?.id }
      expect((await client.callTool({ name: "cancel_deployment", arguments: end })).isError ?? false).toBe(false)
      await client.close()
    },
    120_000
  )
})
