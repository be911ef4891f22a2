import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type Account, type Holder, type Listed, type Server } from "../support/account.ts"
import { describeWhen } from "../support/needs.ts"
import { runSql } from "../support/sql.ts"
import { missingForApps } from "./support/app-image.ts"
import { Killable } from "./support/killable.ts"
import { mcpImage } from "./support/mcp-image.ts"
import { type Deployed } from "./support/used.ts"

describeWhen(missingForApps, "a deployment whose platform was killed before it could answer", () => {
  const platform = new Killable({ DRAIN_SECONDS: "0" })
  let owner: Account
  let server: Server
  let imageUri: string
  beforeAll(async () => {
    imageUri = await Effect.runPromise(mcpImage("streamable", [], ["SLOW=2"]))
    await platform.start()
    owner = await platform.signUp()
    server = await owner.server((await owner.project()).id)
  }, 60_000)
  afterAll(() => platform.clear())

  const post = (holder: Holder, operation: "deploy" | "rollback", key: string, body: object) =>
    holder.request<{ data: Deployed }>("POST", `/v1/servers/${server.id}/${operation}`, {
      body,
      headers: { "idempotency-key": key }
    })
  const deployments = async () =>
    (await owner.get<Listed<Deployed>>(`/v1/servers/${server.id}/deployments?limit=100`)).body.data
  /** As a kill between the commit and the answer leaves it, a minute later. */
  const forgetAnswer = (key: string) =>
    runSql(
      platform.databaseUrl,
      "UPDATE idempotency_keys SET sealed_response = NULL, locked_until = now() - interval '1 second' WHERE key LIKE $1",
      [`%${key}`]
    )

  it("is the answer to the repeat, which waits for it as the first request did", async () => {
    const key = randomUUID()
    const first = post(owner, "deploy", key, { imageUri }).catch(() => undefined)
    await platform.killWhen("SELECT 1 FROM deployments WHERE server_id = $1 AND stage = 'checking'", [server.id])
    await first
    await platform.start()
    const [begun] = await deployments()
    const again = await post(owner, "deploy", key, { imageUri })
    expect([again.status, again.body.data]).toMatchObject([201, { id: begun?.id, version: 1, status: "running" }])
    // From then on there is an answer to give.
    expect((await post(owner, "deploy", key, { imageUri })).body).toEqual(again.body)
    expect(await deployments()).toHaveLength(1)
  }, 60_000)

  it("is found by the key of its own credential only", async () => {
    const key = randomUUID()
    const first = await post(owner, "deploy", key, { imageUri })
    await forgetAnswer(key)
    const other = await post(await owner.holder(server.projectId), "deploy", key, { imageUri })
    expect([other.status, other.body.data.id === first.body.data.id]).toEqual([201, false])
    expect((await post(owner, "deploy", key, { imageUri })).body.data.id).toBe(first.body.data.id)
  }, 60_000)

  it("is found as it is where nobody waits, also a rollback, and no longer once it is gone", async () => {
    const key = randomUUID()
    const body = { version: 1, wait: false }
    const first = await post(owner, "rollback", key, body)
    await expect.poll(async () => (await deployments())[0]?.status, { timeout: 20_000 }).toBe("running")
    await forgetAnswer(key)
    const again = await post(owner, "rollback", key, body)
    expect([again.status, again.body.data]).toMatchObject([202, { id: first.body.data.id, status: "running" }])
    await forgetAnswer(key)
    await owner.delete(`/v1/servers/${server.id}`)
    expect((await post(owner, "rollback", key, body)).status).toBe(404)
  }, 60_000)
})
