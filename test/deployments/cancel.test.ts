import { Effect } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { row } from "../contract/row.ts"
import { failure } from "../contract/shapes.ts"
import { type Account, dataOf, type Project, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { callTool, connectMcp, textOf, type Way } from "../support/mcp.ts"
import { describeWhen } from "../support/needs.ts"
import { statelessPost } from "../support/stateless.ts"
import { missingForApps } from "./support/app-image.ts"
import { mcpImage } from "./support/mcp-image.ts"

interface Deployment {
  readonly id: string
  readonly status: string
  readonly errorMessage: string | null
  readonly active: boolean
}

const image = (...options: Parameters<typeof mcpImage>) => Effect.runPromise(mcpImage(...options))

describeWhen(missingForApps, "a deployment under way", () => {
  const berth = useBerth({ machines: true })
  let owner: Account
  let project: Project
  let good: string
  /** Never healthy: it listens elsewhere. */
  let deaf: string
  beforeAll(async () => {
    owner = await berth.signUp("enterprise")
    project = await owner.project()
    good = await image("streamable")
    deaf = await image("streamable", [], ["LISTEN=3000"])
  })
  afterAll(() => owner.delete(`/v1/projects/${project.id}`))

  const at = ({ id }: Server) => `/v1/servers/${id}`
  const read = async (server: Server, id: string) =>
    dataOf(await owner.get<{ data: Deployment }>(`${at(server)}/deployments/${id}`))
  const begin = async (server: Server, imageUri: string) =>
    dataOf(await owner.post<{ data: Deployment }>(`${at(server)}/deploy`, { imageUri, wait: false }))
  const cancel = (server: Server, id: string) =>
    owner.request<{ data: Deployment }>("POST", `${at(server)}/deployments/${id}/cancel`)
  const untilUnderWay = (server: Server) =>
    expect.poll(async () => (await messagesOf(server)).join("\n"), { timeout: 50_000 }).toContain("Deployment 1: ")
  /** Then it is canceled, which ends it. */
  const saysThatItGoesOn = async (server: Server) => {
    await expect.poll(() => messagesOf(server), { timeout: 30_000 }).toContainEqual(
      expect.stringMatching(/^Deployment 1: whoever waited for it has left; it goes on, and cancel_deployment/)
    )
    const [one] = (await owner.get<{ data: ReadonlyArray<Deployment> }>(`${at(server)}/deployments`)).body.data
    expect(one?.status).toBe("building")
    expect(dataOf(await cancel(server, one!.id))).toMatchObject({ errorMessage: `Canceled by ${owner.email}` })
    expect((await messagesOf(server)).filter((line) => line.includes("has left"))).toHaveLength(1)
  }
  const messagesOf = async (server: Server) => {
    const path = `${at(server)}/logs?limit=200`
    return dataOf(await owner.get<{ data: { items: ReadonlyArray<{ message: string }> } }>(path)).items
      .map(({ message }) => message)
  }

  row(
    "POST /v1/servers/:serverId/deployments/:deploymentId/cancel → 200 deployment, failed; 409 when it has ended",
    async () => {
      const server = await owner.server(project.id, { healthTimeoutSeconds: 5 })
      const first = dataOf(await owner.post<{ data: Deployment }>(`${at(server)}/deploy`, { imageUri: good }))
      expect(first.status).toBe("running")
      const second = await begin(server, deaf)
      await expect.poll(async () => (await messagesOf(server)).join("\n"), { timeout: 20_000 })
        .toContain("Deployment 2: starting the machine")
      // Two callers: one cancels it.
      const both = await Promise.all([cancel(server, second.id), cancel(server, second.id)])
      expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
      const refused = both.find(({ status }) => status === 409)
      expect(refused?.body).toEqual(failure("DEPLOYMENT_ENDED"))
      const canceled = { status: "failed", errorMessage: `Canceled by ${owner.email}`, active: false }
      expect(dataOf(both.find(({ status }) => status === 200)!)).toMatchObject(canceled)
      // The old version serves, and the next deployment begins at once.
      expect(await read(server, first.id)).toMatchObject({ status: "running", active: true })
      expect(dataOf(await owner.get<{ data: Server }>(at(server)))).toMatchObject({ status: "running" })
      const third = dataOf(await owner.post<{ data: Deployment }>(`${at(server)}/deploy`, { imageUri: good }))
      expect(third).toMatchObject({ status: "running", active: true })
      expect((await cancel(server, third.id)).body).toEqual(failure("DEPLOYMENT_ENDED"))
      // Once its health check is over it still is as it was, and its log tells one end.
      await new Promise((resolve) => setTimeout(resolve, 6_000))
      expect(await read(server, second.id)).toMatchObject(canceled)
      const ends = (await messagesOf(server)).filter((line) => /^Deployment 2: (Canceled|failed)/.test(line))
      expect(ends).toEqual([`Deployment 2: Canceled by ${owner.email}`])
    }
  )

  it("that is another server's, or none, is 404; a key says its own id", async () => {
    const [server, other] = [await owner.server(project.id), await owner.server(project.id)]
    const one = await begin(server, deaf)
    expect((await cancel(other, one.id)).status).toBe(404)
    expect((await cancel(server, "dep_01J00000000000000000000000")).status).toBe(404)
    const { id, key } = await owner.key(project.id, ["deployments:write"])
    const client = await connectMcp(berth.url, { token: key })
    const { structuredContent } = await callTool(client, "cancel_deployment", {
      serverId: server.id,
      deploymentId: one.id
    })
    expect(structuredContent).toMatchObject({ status: "failed", errorMessage: `Canceled by the key ${id}` })
    const again = await callTool(client, "cancel_deployment", { serverId: server.id, deploymentId: one.id })
    expect([again.isError, textOf(again)]).toEqual([true, failure("DEPLOYMENT_ENDED")])
    expect(dataOf(await owner.get<{ data: Server }>(at(server)))).toMatchObject({ status: "error" })
    await client.close()
  })

  it.each<Way>(["Streamable HTTP", "SSE"])(
    "goes on when a client over %s cancels the call that waits for it, and its log says so",
    async (way) => {
      const server = await owner.server(project.id, { healthTimeoutSeconds: 30 })
      const client = await connectMcp(berth.url, { token: owner.token, way })
      const cancelled = new AbortController()
      const request = { name: "deploy", arguments: { serverId: server.id, imageUri: deaf } }
      const call = client.callTool(request, undefined, { signal: cancelled.signal, onprogress: () => undefined })
      await untilUnderWay(server)
      cancelled.abort()
      await expect(call).rejects.toThrow()
      await saysThatItGoesOn(server)
      await client.close()
    },
    120_000
  )

  it("goes on when a client of 2026-07-28 closes the request, or one over HTTP does", async () => {
    const posts = (server: Server) => {
      const { body, headers } = statelessPost({
        method: "tools/call",
        params: { name: "deploy", arguments: { serverId: server.id, imageUri: deaf } }
      })
      return [["/mcp", headers, body], [`${at(server)}/deploy`, {}, { imageUri: deaf }]] as const
    }
    for (const which of [0, 1] as const) {
      const server = await owner.server(project.id, { healthTimeoutSeconds: 30 })
      const [path, headers, body] = posts(server)[which]
      const closed = new AbortController()
      const request = fetch(`${berth.url}${path}`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json", authorization: `Bearer ${owner.token}` },
        body: JSON.stringify(body),
        signal: closed.signal
      }).then((answer) => answer.text())
      await untilUnderWay(server)
      closed.abort()
      await expect(request).rejects.toThrow()
      await saysThatItGoesOn(server)
    }
  }, 180_000)

  it("is waited for, until it ended or the time is up, and says what to call next", async () => {
    const server = await owner.server(project.id, { healthTimeoutSeconds: 30 })
    const client = await connectMcp(berth.url, { token: owner.token })
    const wait = async (deploymentId: string, timeoutSeconds: number) => {
      const told: Array<string | undefined> = []
      const result = await client.callTool(
        { name: "wait_for_deployment", arguments: { deploymentId, timeoutSeconds } },
        undefined,
        { onprogress: ({ message }) => void told.push(message) }
      )
      return { told, value: result.structuredContent as { ended: boolean; next: string; deployment: Deployment } }
    }
    const slow = await begin(server, deaf)
    const early = await wait(slow.id, 2)
    expect(early.value).toMatchObject({
      ended: false,
      next: expect.stringMatching(/wait_for_deployment.*cancel_deployment/) as string,
      deployment: { id: slow.id, status: "building" }
    })
    expect(early.told.length).toBeGreaterThan(0)
    const waiting = wait(slow.id, 55)
    await cancel(server, slow.id)
    expect((await waiting).value).toMatchObject({
      ended: true,
      next: "deploy begins another one",
      deployment: { status: "failed", errorMessage: `Canceled by ${owner.email}` }
    })
    const { value } = await wait((await begin(server, good)).id, 55)
    expect(value).toMatchObject({
      ended: true,
      next: expect.stringContaining("create_test_token") as string,
      deployment: { status: "running" }
    })
    const wrong = await callTool(client, "wait_for_deployment", { deploymentId: slow.id, timeoutSeconds: 56 })
    expect(wrong.isError).toBe(true)
    const next = await begin(server, good)
    expect((await wait(next.id, 55)).value.deployment).toMatchObject({ version: 3, active: true })
    const third = await begin(server, deaf)
    await cancel(server, third.id)
    expect((await wait(third.id, 55)).value.next).toMatch(/^Version 3 still serves, so no rollback is needed\. deploy/)
    const listed = await callTool(client, "list_deployments", { serverId: server.id })
    expect((listed.content as ReadonlyArray<{ text: string }>)[0]?.text.match(/status: \w+/g)).toEqual(
      ["failed", "running", "superseded", "failed"].map((status) => `status: ${status}`)
    )
    expect((listed.structuredContent as { data: ReadonlyArray<Deployment> }).data.map(({ status }) => status)).toEqual(
      ["failed", "running", "running", "failed"]
    )
    const elsewhere = await owner.server(project.id)
    for (const tool of ["get_deployment", "wait_for_deployment"]) {
      for (const which of [{}, { serverId: server.id }]) {
        expect(await callTool(client, tool, { deploymentId: next.id, ...which })).not.toHaveProperty("isError")
      }
      const refused = await callTool(client, tool, { deploymentId: next.id, serverId: elsewhere.id })
      expect([refused.isError, JSON.stringify(refused)]).toEqual([true, expect.stringContaining("no such deployment")])
    }
    await client.close()
  }, 60_000)
})
