import { Effect } from "effect"
import { beforeAll, expect, it } from "vitest"
import { appImage, missingForApps } from "../deployments/support/app-image.ts"
import { mcpImage } from "../deployments/support/mcp-image.ts"
import { type Account, dataOf, type Listed } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type Business, businesses } from "../support/business.ts"
import { callTool, connectMcp } from "../support/mcp.ts"
import { describeLong, describeWhen, itLong } from "../support/needs.ts"

interface Publication {
  readonly businessId: string
  readonly business: Business
  readonly serverId: string
  readonly mcpUrl: string
  readonly importedItems: number
  readonly warnings: ReadonlyArray<{ readonly type: string; readonly context?: string }>
  readonly deployment: { readonly status: string; readonly errorMessage?: string }
  readonly listing: { readonly id: string; readonly status: string }
}

const menu = "name,price,category\nTomato Soup,$6.50,Starters\nRye Toast,twelve,Starters\n"
const file = { filename: "menu.csv", content: menu, name: "Copper Ladle" }
const publish = (owner: Account, body: Readonly<Record<string, unknown>>) =>
  owner.request<{ data: Publication }>("POST", `${businesses}/publish`, { body })

const traces = async (owner: Account) => {
  const totals = await Promise.all(
    ["/v1/projects", "/v1/servers", businesses].map(async (path) =>
      (await owner.get<Listed<unknown>>(path)).body.meta.total
    )
  )
  return { projects: totals[0], servers: totals[1], businesses: totals[2] }
}

describeWhen(missingForApps, "publishing a business", () => {
  const variables: Record<string, string> = {}
  beforeAll(async () => {
    variables["READY_IMAGE"] = await Effect.runPromise(mcpImage("streamable"))
  })
  const berth = useBerth({ machines: true, variables })

  it("makes the business, its items, its server and a listing that is shown", async () => {
    const owner = await berth.signUp("pro")
    const answer = await publish(owner, {
      ...file,
      templateType: "restaurant",
      profile: { contact: { address: { city: "Millbrook" } }, hours: { monday: "closed" } }
    })
    expect(answer.status).toBe(201)
    const made = answer.body.data
    expect(made).toMatchObject({
      importedItems: 2,
      warnings: [{ type: "field_skipped" }],
      deployment: { status: "running" },
      listing: { status: "active" },
      business: {
        name: "Copper Ladle",
        templateType: "restaurant",
        serverId: made.serverId,
        hours: { monday: "closed" }
      }
    })
    expect(made.mcpUrl).toBe(`${berth.url}/s/copper-ladle/mcp`)
    const listed = await berth.request<{ data: { businessName: string; city: string } }>(
      "GET",
      `/v1/directory/${made.listing.id}`
    )
    expect(listed).toMatchObject({ status: 200, body: { data: { businessName: "Copper Ladle", city: "Millbrook" } } })
    const { accessToken } = dataOf(
      await owner.post<{ data: { accessToken: string } }>(`/v1/servers/${made.serverId}/test-token`, undefined)
    )
    const seen = await berth.request<{ SVC_READY_CONFIG: string }>("GET", "/s/copper-ladle/env", { token: accessToken })
    expect(seen.text).toContain("Tomato Soup")
  })

  it("of a file that can't be imported leaves nothing behind, not even a project", async () => {
    const owner = await berth.signUp()
    const refused = [
      [{ ...file, content: "title\nSoup\n" }, "validation_error"],
      [{ ...file, content: "name\n\n" }, "validation_error"],
      [{ ...file, filename: "menu.json", content: "{" }, "validation_error"],
      [{ ...file, filename: "menu.xls" }, "unsupported_format"],
      [{ filename: "menu.csv", content: menu }, "validation_error"]
    ] as const
    for (const [body, code] of refused) {
      expect(await publish(owner, body)).toMatchObject({ status: 422, body: { error: { code } } })
    }
    expect(await traces(owner)).toEqual({ projects: 0, servers: 0, businesses: 0 })
  })

  itLong("by two callers at once, of an account that has nothing yet, makes two", async () => {
    const owner = await berth.signUp("pro")
    const answers = await Promise.all([publish(owner, file), publish(owner, file), publish(owner, file)])
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201])
    expect(await traces(owner)).toMatchObject({ servers: 3, businesses: 3 })
  })

  itLong("takes the name of the business from a JSON file", async () => {
    const owner = await berth.signUp()
    const content = JSON.stringify({
      version: "1.0",
      business: { name: "Harbor Bikes", description: "Repairs", vertical: "retail" },
      catalog_items: [{ name: "Tune-up", price: 49.9 }]
    })
    const { data } = (await publish(owner, { filename: "shop.json", content, visible: false })).body
    expect(data).toMatchObject({
      business: { name: "Harbor Bikes", slug: "harbor-bikes" },
      listing: { status: "pending" }
    })
  })

  it("beyond the plan is refused whole", async () => {
    const owner = await berth.signUp("free")
    const project = await owner.project()
    await owner.server(project.id)
    await owner.server(project.id)
    expect(await publish(owner, file)).toMatchObject({ status: 403, body: { error: { code: "plan_limit_reached" } } })
    expect(await traces(owner)).toEqual({ projects: 1, servers: 2, businesses: 0 })
  })

  itLong("goes on when its caller hangs up", async () => {
    const owner = await berth.signUp()
    const cut = new AbortController()
    const sent = fetch(`${berth.url}${businesses}/publish`, {
      method: "POST",
      signal: cut.signal,
      headers: { authorization: `Bearer ${owner.token}`, "content-type": "application/json" },
      body: JSON.stringify(file)
    }).catch(() => undefined)
    await expect.poll(async () => (await traces(owner)).businesses, { timeout: 10_000 }).toBe(1)
    cut.abort()
    await sent
    const [business] = (await owner.get<Listed<Business>>(businesses)).body.data
    await expect.poll(
      async () => (await berth.request("GET", `/v1/directory/${business?.listingId}`)).status,
      { timeout: 20_000 }
    ).toBe(200)
  })

  itLong("as a tool tells each step on the way", async () => {
    const owner = await berth.signUp("pro")
    const client = await connectMcp(berth.url, { token: owner.token })
    const steps: Array<number> = []
    const result = await client.callTool({ name: "publish_business", arguments: file }, undefined, {
      onprogress: ({ progress, total }) => steps.push(total === undefined ? -1 : progress)
    })
    expect(result.structuredContent).toMatchObject({ importedItems: 2, deployment: { status: "running" } })
    expect(steps).toEqual([...steps].sort((one, other) => one - other))
    expect(steps.length).toBeGreaterThan(4)
    const again = await callTool(client, "publish_business", { filename: "menu.txt", content: "x" })
    expect(again.isError).toBe(true)
    await client.close()
  })
})

describeLong("publishing a business whose server does not start", () => {
  const variables: Record<string, string> = {}
  beforeAll(async () => {
    variables["READY_IMAGE"] = await Effect.runPromise(appImage("crash"))
  })
  const berth = useBerth({ machines: true, variables })

  it("says why, and leaves the listing hidden", async () => {
    const owner = await berth.signUp()
    const answer = await publish(owner, file)
    expect(answer).toMatchObject({
      status: 201,
      body: {
        data: {
          deployment: { status: "failed", errorMessage: expect.stringContaining("no configuration") as string },
          listing: { status: "pending" }
        }
      }
    })
  })
}, missingForApps)
