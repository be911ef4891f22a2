import { type Client } from "@modelcontextprotocol/sdk/client/index.js"
import { beforeAll, describe, expect, it } from "vitest"
import { type Account, type Project, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type Business, newBusiness } from "../support/business.ts"
import { hubKey } from "../support/composites.ts"
import { connectMcp } from "../support/mcp.ts"

const berth = useBerth()
let owner: Account
let project: Project
let server: Server
let shop: Business
let client: Client

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  project = await owner.project("Corner")
  server = await owner.server(project.id, { name: "Menu of the corner", slug: "corner-menu" })
  shop = await newBusiness(owner, { name: "Copper Ladle", projectId: project.id })
  await owner.patch(`/v1/directory/${shop.listingId}`, { visible: true })
  client = await connectMcp(berth.url, { token: owner.token })
})

const textFor = async (name: string, args: Readonly<Record<string, string>>) => {
  const { messages: [message] } = await client.getPrompt({ name, arguments: args })
  return message?.content.type === "text" ? message.content.text : ""
}

describe("prompts", () => {
  it("begin the common jobs, with what the user gave", async () => {
    const { prompts } = await client.listPrompts()
    expect(prompts.map(({ name, title }) => [name, title])).toEqual([
      ["deploy_server", "Deploy a server"],
      ["publish_business", "Publish a business"],
      ["find_and_use_business", "Find and use a business"],
      ["explain_failed_deployment", "Find out why a deployment failed"]
    ])
    expect(await textFor("deploy_server", { imageUri: "x/y:1", projectId: project.id }))
      .toMatch(new RegExp(`x/y:1 .* in the project ${project.id}`))
    expect(await textFor("publish_business", { name: "Ladle", city: "Denver" })).toMatch(/"Ladle" in Denver[^]*dryRun/)
    expect(await textFor("find_and_use_business", { what: "soup" })).toMatch(/"soup"[^]*directory_search by kind/)
    expect(await textFor("explain_failed_deployment", { serverId: server.id })).toMatch(/get_logs/)
  })

  it("say which argument is missing", async () => {
    for (const { arguments: args = [], name } of (await client.listPrompts()).prompts) {
      const required = args.find((argument) => argument.required)?.name
      await expect(client.getPrompt({ name }), name).rejects.toThrow(
        // The prefix is the client's own.
        new RegExp(`^MCP error -32602: The argument ${required} is required$`)
      )
    }
  })

  it("name tools that there are", async () => {
    const all = await connectMcp(berth.url, { token: owner.token, query: "?toolsets=all" })
    const names = new Set((await all.listTools()).tools.map(({ name }) => name).concat("find_tools", "call_tool"))
    await all.close()
    for (
      const [name, args] of [["find_and_use_business", "what"], ["explain_failed_deployment", "serverId"]] as const
    ) {
      const named = (await textFor(name, { [args]: "x" })).match(/[a-z]+(?:_[a-z]+)+/g) ?? []
      expect(named.length).toBeGreaterThan(2)
      for (const tool of named) expect(names.has(tool), tool).toBe(true)
    }
  })
})

describe("completion", () => {
  const valuesFor = async (name: string, argument: string, value: string, by = client) =>
    (await by.complete({ ref: { type: "ref/prompt", name }, argument: { name: argument, value } })).completion.values

  it("gives the ids of the caller's own servers and projects, by id, name or slug", async () => {
    for (const value of ["", "menu", "corner-m", server.id.slice(0, 12)]) {
      expect(await valuesFor("explain_failed_deployment", "serverId", value), value).toEqual([server.id])
    }
    expect(await valuesFor("explain_failed_deployment", "serverId", "zzz")).toEqual([])
    expect(await valuesFor("deploy_server", "projectId", "cor")).toContain(project.id)
    expect(await valuesFor("deploy_server", "imageUri", "x")).toEqual([])
  })

  it("gives another account, and a hub key, nothing of them", async () => {
    const others = [(await berth.signUp()).token, (await hubKey(berth, owner)).token]
    for (const token of others) {
      const other = await connectMcp(berth.url, { token })
      expect(await valuesFor("explain_failed_deployment", "serverId", "", other)).toEqual([])
      await other.close()
    }
  })

  it("gives slugs of listings, for prompts and resources", async () => {
    expect(await valuesFor("find_and_use_business", "business", "copper")).toContain(shop.slug)
    const { completion } = await client.complete({
      ref: { type: "ref/resource", uri: "skill://listings/{slug}/SKILL.md" },
      argument: { name: "slug", value: "ladle" }
    })
    expect(completion.values).toContain(shop.slug)
  })

  it("of no prompt is -32602", async () => {
    await expect(valuesFor("nope", "x", "")).rejects.toMatchObject({ code: -32602 })
  })
})
