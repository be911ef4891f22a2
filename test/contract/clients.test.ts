import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type ClientHost, startClientHost } from "../oauth/support/client-host.ts"
import { type Account, dataOf, type Project, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { row } from "./row.ts"
import { failure, timestamp } from "./shapes.ts"

const berth = useBerth({ variables: { ALLOWED_PRIVATE_HOSTS: "127.0.0.1" } })
let host: ClientHost
let stop = () => {}
let owner: Account
let project: Project
let server: Server

beforeAll(async () => {
  const started = await startClientHost()
  host = started.host
  stop = started.stop
  owner = await berth.signUp()
  project = await owner.project()
  server = await owner.server(project.id)
})
afterAll(() => stop())

const path = () => `/api/v1/servers/${server.id}/clients`

describe("clients of a server", () => {
  row("POST /api/v1/servers/:id/clients { clientMetadataUrl } pre-registers a client", async () => {
    const id = host.newId()
    host.serve(host.document(id))
    const answer = await owner.post(path(), { clientMetadataUrl: id })
    expect([answer.status, answer.body]).toEqual([201, {
      data: {
        clientId: id,
        clientName: "Menu Reader",
        redirectUris: ["https://client.example/callback", "http://localhost/callback"],
        registeredAt: timestamp,
        lastFetchedAt: timestamp
      }
    }])
  })

  it("are registered over MCP with the same result", async () => {
    const id = host.newId()
    host.serve(host.document(id))
    const call = await owner.request<{
      result: { isError?: boolean; structuredContent: Readonly<Record<string, unknown>> }
    }>("POST", "/mcp", {
      headers: { accept: "application/json, text/event-stream" },
      body: {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "register_client", arguments: { serverId: server.id, clientMetadataUrl: id } }
      }
    })
    const text = call.text.includes("data: ") ? call.text.slice(call.text.indexOf("data: ") + 6) : call.text
    const { result } = JSON.parse(text) as typeof call.body
    const over = dataOf(
      await owner.post<{ data: Readonly<Record<string, unknown>> }>(path(), { clientMetadataUrl: id })
    )
    expect(result.isError).not.toBe(true)
    expect(result.structuredContent).toEqual({ ...over, lastFetchedAt: timestamp })
  })

  it("need a document that is valid: else 422 that says why, in lower case", async () => {
    const id = host.newId()
    const refusal = async (clientMetadataUrl: string) => {
      const answer = await owner.post(path(), { clientMetadataUrl })
      return [answer.status, answer.body]
    }
    const because = (message: RegExp) => [
      422,
      failure("validation_error", {
        issues: [{ path: "clientMetadataUrl", message: expect.stringMatching(message) }]
      })
    ]
    host.fail(404)
    expect(await refusal(id)).toEqual(because(/answers 404/))
    host.serve(host.document("https://other.example/metadata.json"))
    expect(await refusal(id)).toEqual(because(/^client_id/))
    host.serve(host.document(id, { client_secret: "s" }))
    expect(await refusal(id)).toEqual(because(/secret/))
    for (
      const url of [
        "http://client.example/metadata.json",
        "https://client.example",
        "https://10.0.0.1/a",
        "https://169.254.169.254/latest/meta-data",
        "https://[::ffff:127.0.0.1]/a",
        "https://client.example/a/../b",
        "nothing"
      ]
    ) expect(await refusal(url), url).toEqual(because(/\S/))
  })

  it("are the owner's to register: 401 for a key or nobody, 404 for anybody else", async () => {
    const id = host.newId()
    host.serve(host.document(id))
    const before = host.asked.length
    const body = { clientMetadataUrl: id }
    const byKey = await (await owner.holder(project.id)).post(path(), body)
    expect([byKey.status, byKey.body]).toEqual([401, failure("unauthorized")])
    const byNobody = await berth.request("POST", path(), { body })
    expect([byNobody.status, byNobody.body]).toEqual([401, failure("unauthorized")])
    const stranger = await berth.signUp()
    const byStranger = await stranger.post(path(), body)
    expect([byStranger.status, byStranger.body]).toEqual([404, failure("not_found")])
    const nowhere = await owner.post("/api/v1/servers/srv_00000000000000000000000000/clients", body)
    expect([nowhere.status, nowhere.body]).toEqual([404, failure("not_found")])
    expect(host.asked).toHaveLength(before)
  })
})
