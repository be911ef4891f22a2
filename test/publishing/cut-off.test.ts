import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { beforeAll, expect, it } from "vitest"
import { missingForApps } from "../deployments/support/app-image.ts"
import { mcpImage } from "../deployments/support/mcp-image.ts"
import { type Account, type Listed } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type Business, businesses } from "../support/business.ts"
import { revert } from "../support/imports.ts"
import { describeWhen } from "../support/needs.ts"
import { runSql } from "../support/sql.ts"

interface Body {
  readonly data: {
    readonly businessId: string
    readonly importId: string
    readonly importedItems: number
    readonly serverId: string
    readonly deployment: { readonly id: string; readonly status: string }
  }
}
const file = (...rows: ReadonlyArray<string>) => ({ filename: "menu.csv", content: `name,price\n${rows.join("\n")}\n` })

describeWhen(missingForApps, "a publication whose program ended before it could answer", () => {
  const variables: Record<string, string> = {}
  beforeAll(async () => {
    variables["READY_IMAGE"] = await Effect.runPromise(mcpImage("streamable"))
  })
  const berth = useBerth({ machines: true, variables })
  let owner: Account
  beforeAll(async () => {
    owner = await berth.signUp("enterprise")
  })

  const publish = (key: string, body: object) =>
    owner.request<Body>("POST", `${businesses}/publish`, { body, headers: { "idempotency-key": key } })
  /** As a crash between the commit and the answer leaves it, a minute later. */
  const forgetAnswer = (key: string) =>
    runSql(
      berth.databaseUrl,
      "UPDATE idempotency_keys SET sealed_response = NULL, locked_until = now() - interval '1 second' WHERE key LIKE $1",
      [`%${key}`]
    )
  const names = async (businessId: string) =>
    (await runSql(berth.databaseUrl, "SELECT name FROM catalog_items WHERE business_id = $1 ORDER BY 1", [businessId]))
      .map(({ name }) => name)

  it("is repeated with the same Idempotency-Key as the same publication", async () => {
    const key = randomUUID()
    const body = { ...file("Soup,6.50"), name: "Once" }
    const first = await publish(key, body)
    expect(first.status).toBe(201)
    await forgetAnswer(key)
    const again = await publish(key, body)
    expect([again.status, again.body.data]).toEqual([201, first.body.data])
    expect((await owner.get<Listed<Business>>(businesses)).body.data.filter(({ name }) => name === "Once"))
      .toHaveLength(1)
    // And from then on there is an answer to give.
    expect((await publish(key, body)).body).toEqual(again.body)
  })

  it("of an existing business replaces its catalog once: an undo brings the old one back", async () => {
    const { businessId } = (await publish(randomUUID(), { ...file("Old,1"), name: "Twice" })).body.data
    const key = randomUUID()
    const body = { ...file("New,2"), businessId }
    const first = await publish(key, body)
    await forgetAnswer(key)
    const again = await publish(key, body)
    expect([again.status, again.body.data.importId]).toEqual([201, first.body.data.importId])
    expect(await names(businessId)).toEqual(["New"])
    expect((await revert(owner, businessId, again.body.data.importId)).status).toBe(200)
    expect(await names(businessId)).toEqual(["Old"])
  })

  it("whose business is gone by then says so", async () => {
    const key = randomUUID()
    const body = { ...file("Soup,6.50"), name: "Gone" }
    const { businessId } = (await publish(key, body)).body.data
    await forgetAnswer(key)
    await owner.delete(`${businesses}/${businessId}`)
    expect((await publish(key, body)).status).toBe(409)
  })
})
