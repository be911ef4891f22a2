import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, it } from "vitest"
import { useProgram } from "../program/support/program.ts"
import { callTool, connectMcp } from "../support/mcp.ts"
import { describeLong } from "../support/needs.ts"
import { DoorAgent } from "./support/door-agent.ts"

interface Named {
  readonly id: string
}
interface Rows {
  readonly data: ReadonlyArray<Named & { readonly mcpServerUrl?: string }>
}

/** What the ready image's program needs to run, as short as it can be. */
const secretOf = async (folder: string) => {
  const text = await readFile(join(folder, "examples/restaurant/ready-config.json"), "utf8")
  const { analytics: _, catalog: _catalog, customFields: _fields, hours: _hours, ...config } = JSON.parse(
    text
  ) as Record<string, unknown>
  return JSON.stringify({ ...config, hours: {} })
}

/** The fewest calls a job can have, for whoever knows the tools by heart. */
const fewest = {
  "publish a business": 1,
  "change a price": 2,
  "find a business and call it": 2,
  "deploy with a secret, see it fail, roll back": 7,
  "share read-only, and revoke": 2,
  "cost and limits": 1,
  "take down": 2
}

describeLong("an agent that has only the door's URL", () => {
  const program = useProgram()

  it("does each of seven jobs in no more than two calls beyond the fewest, and all in 11,000 tokens", async () => {
    const { place, url } = program()
    const email = `agent-${Date.now()}@example.com`
    const signedUp = await fetch(`${url}/v1/auth/signup`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email, password: "correct horse battery" })
    })
    const { data: { token } } = await signedUp.json() as { data: { token: string } }
    const agent = await DoorAgent.at(url, token)
    const image = `oci:${place.home}/ready-image`

    const made = await agent.job(
      "publish a business",
      () =>
        agent.call<{ businessId: string; importedItems: number; listing: { status: string } }>("publish_business", {
          filename: "menu.csv",
          content: "name,price,category\nTomato Soup,6.50,Starters\nRye Toast,7.25,Starters\n",
          name: "Seven Jobs Diner",
          templateType: "restaurant",
          profile: { contact: { address: { city: "Denver", state: "CO" } } }
        })
    )
    expect(made).toMatchObject({ importedItems: 2, listing: { status: "active" } })

    await agent.job("change a price", async () => {
      const { items } = await agent.call<{ items: ReadonlyArray<Named & { name: string }> }>("get_catalog", {
        businessId: made.businessId
      })
      const soup = items.find(({ name }) => name === "Tomato Soup")!
      const changed = await agent.call<{ priceCents: number }>("update_catalog_item", {
        businessId: made.businessId,
        itemId: soup.id,
        priceCents: 700
      })
      expect(changed.priceCents).toBe(700)
    })

    await agent.job("find a business and call it", async () => {
      const { data: [found] } = await agent.call<Rows>("directory_search", { search: "seven jobs dinner", limit: 3 })
      const { accessToken, resource } = await agent.call<{ accessToken: string; resource: string }>(
        "create_server_token",
        {
          resource: found!.mcpServerUrl
        }
      )
      const { pathname } = new URL(resource)
      const client = await connectMcp(url, { token: accessToken, path: `${pathname}/mcp` })
      const answer = await callTool(client, "search_catalog", { query: "soup" })
      expect(answer.structuredContent).toMatchObject({ items: [{ name: "Tomato Soup" }] })
      await client.close()
    })

    const projectId = await agent.job("deploy with a secret, see it fail, roll back", async () => {
      const project = await agent.call<Named>("create_project", { name: "Jobs" })
      const server = await agent.call<Named>("create_server", { projectId: project.id, name: "Menu" })
      const serverId = server.id
      await agent.call("set_env", { serverId, name: "SVC_READY_CONFIG", value: await secretOf(place.folder) })
      expect(await agent.call("deploy", { serverId, imageUri: image })).toMatchObject({ status: "running" })
      expect(await agent.call("deploy", { serverId, imageUri: `${image}-gone` })).toMatchObject({
        status: "failed",
        errorMessage: expect.stringMatching(/./)
      })
      await agent.call("get_logs", { serverId, limit: 10 })
      expect(await agent.call("rollback", { serverId, version: 1 })).toMatchObject({ status: "running" })
      return project.id
    })

    await agent.job("share read-only, and revoke", async () => {
      await agent.find("share read-only access to a project, and revoke it", "create_api_key")
      const key = await agent.call<Named & { key: string }>("create_api_key", {
        projectId,
        name: "reader",
        scopes: ["servers:read"]
      })
      await agent.find("revoke an API key", "delete_api_key")
      await agent.call("delete_api_key", { keyId: key.id })
    })

    await agent.job("cost and limits", async () => {
      expect(await agent.call("get_plan")).toMatchObject({ plan: { plan: "free" } })
    })

    await agent.job("take down", async () => {
      await agent.find("delete a project for good", "delete_project")
      await agent.call("delete_project", { projectId })
      await agent.find("delete a business for good", "delete_business")
      await agent.call("delete_business", { businessId: made.businessId })
    })
    await agent.close()

    console.log(agent.table())
    for (const { calls, name } of agent.jobs) {
      expect(calls, name).toBeLessThanOrEqual(fewest[name as keyof typeof fewest] + 2)
    }
    expect(agent.jobs.map(({ name }) => name)).toEqual(Object.keys(fewest))
    expect(agent.jobs.reduce((sum, { tokens }) => sum + tokens, agent.tokensAtFirst)).toBeLessThanOrEqual(11_000)
  }, 300_000)
})
