import { type Client } from "@modelcontextprotocol/sdk/client/index.js"
import { describe, expect, it } from "vitest"
import { compose } from "../support/composites.ts"
import { startMember } from "../support/mcp-member.ts"
import { callTool, textOf } from "../support/mcp.ts"
import { change, look, patientMembers, schema, useThreeMembers } from "./three-members.ts"

const three = useThreeMembers(patientMembers)
const { ask, berth, compositeOf, live, members, servers, slugOf, withClient } = three

describe("who is asked", () => {
  it("is everybody, or those named", async () => {
    expect((await ask()).map(({ status }) => status)).toEqual(["ok", "ok", "ok"])
    expect(await ask({ businesses: [slugOf(1)] })).toEqual([{ slug: slugOf(1), status: "ok", result: "bert: look" }])
    expect(await ask({ businesses: slugOf(0) })).toHaveLength(1)
  })

  it("is nobody unknown: the error says who is there", async () => {
    for (
      const [businesses, message] of [
        [["nobody"], /no business with this tool is called "nobody"; there are /],
        [[], /must have 1 to 10 entries/],
        [Array.from({ length: 11 }, (_, i) => `b${i}`), /must have 1 to 10 entries/],
        [7, /must be a list of slugs/]
      ] as const
    ) {
      const result = await withClient((client) => callTool(client, "look", { businesses }))
      expect(result.isError).toBe(true)
      expect(textOf(result)).toMatchObject({ error: { message: expect.stringMatching(message) } })
    }
  })

  it("is told, and the rest of the arguments, and nothing else", async () => {
    servers[0]!.answer = (_, args) => JSON.stringify(args)
    expect(await ask({ q: "x", businesses: [slugOf(0)] })).toMatchObject([{ result: "{\"q\":\"x\"}" }])
    servers[0]!.answer = (tool) => `anna: ${tool}`
  })
})

it("a tool of one member that several have alike is named with whom to ask, where all are listed", async () => {
  await withClient(async (client) => {
    await expect(client.callTool({ name: `${slugOf(0)}__look` })).rejects.toThrow(
      `Several businesses have it alike: call look with businesses: ["${slugOf(0)}"].`
    )
    await expect(client.callTool({ name: "cook" })).rejects.toThrow(/Did you mean "look"\? tools\/list has those/)
  })
})

describe("prompts and resources", () => {
  it("prompts are prefixed, a URI is the better ranked member's", async () => {
    await withClient(async (client) => {
      const { prompts } = await client.listPrompts()
      expect(prompts.map(({ name }) => name).sort()).toEqual(members.map(({ slug }) => `${slug}__greet`).sort())
      const got = await client.getPrompt({ name: `${slugOf(1)}__greet` })
      expect(got.messages).toMatchObject([{ content: { text: "Greet bert" } }])
      const { resources } = await client.listResources()
      expect(resources.map(({ uri }) => uri)).toEqual(["menu://today"])
      expect(await client.readResource({ uri: "menu://today" })).toMatchObject({
        contents: [{ uri: "menu://today", text: expect.stringMatching(/^Menu of (anna|bert|cleo)$/) }]
      })
      await expect(client.readResource({ uri: "menu://tomorrow" })).rejects.toThrow(/There is no resource/)
      await expect(client.getPrompt({ name: "greet" })).rejects.toThrow(/There is no prompt/)
    })
  })

  it("a tool keeps the view of its results, which is read as its own member's; what the view alone calls is not listed", async () => {
    const ui = { resourceUri: "ui://menu/card" }
    const tools = [
      { name: "card", inputSchema: schema, _meta: { ui } },
      { name: "refresh", inputSchema: schema, _meta: { ui: { ...ui, visibility: ["app"] } } }
    ]
    const started = await Promise.all(["dora", "emil"].map(async (name) => {
      const server = await startMember(name, tools)
      return { name, server, member: await live.add(berth, three.owner, name, server.url) }
    }))
    const path = await compositeOf(started.map(({ member }) => member))
    await withClient(
      async (client) => {
        const listed = (await client.listTools()).tools.filter(({ name }) => name !== "composite_members")
        expect(listed.map(({ name }) => name).sort()).toEqual(
          started.map(({ member }) => `${member.slug}__card`).sort()
        )
        for (const { member: { slug }, name } of started) {
          const { _meta } = listed.find((tool) => tool.name === `${slug}__card`)!
          const uri = (_meta as { ui: { resourceUri: string } }).ui.resourceUri
          expect(await client.readResource({ uri })).toMatchObject({ contents: [{ uri, text: `Menu of ${name}` }] })
          expect((await callTool(client, `${slug}__refresh`)).content).toEqual([{
            type: "text",
            text: `${name}: refresh`
          }])
        }
        await expect(client.readResource({ uri: ui.resourceUri })).rejects.toThrow(/There is no resource/)
      },
      undefined,
      path
    ).finally(() => started.forEach(({ server }) => server.stop()))
    const [{ member }] = started as [typeof started[number]]
    await withClient(
      async (client) => {
        const card = (await client.listTools()).tools.find(({ name }) => name === `${member.slug}__card`)
        expect(card?._meta).toEqual({ ui })
      },
      undefined,
      await compositeOf([member])
    )
  })

  it("a member's error that blames the caller keeps its code, another is the server's, and it is named once", async () => {
    const slug = slugOf(1)
    const told = { code: "member_error" }
    await withClient(async (client) => {
      for (const [code, kept] of [[-32602, -32602], [-32002, -32002], [-32050, -32603]] as const) {
        servers[1]!.rejects = [code, "city is required"]
        const message = `MCP error ${kept}: ${slug}: city is required`
        const failure = { code: kept, message }
        await expect(client.getPrompt({ name: `${slug}__greet` })).rejects.toMatchObject({ ...failure, data: told })
        await expect(client.readResource({ uri: "bert://a" })).rejects.toMatchObject({
          ...failure,
          data: { ...told, uri: "bert://a" }
        })
      }
    }).finally(() => (servers[1]!.rejects = undefined))
  })

  it("resource templates are listed once, untouched, and a URI that nobody lists is read where its template is", async () => {
    await withClient(async (client) => {
      const { resourceTemplates } = await client.listResourceTemplates()
      expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate).sort()).toEqual(
        ["anna://{+path}", "bert://{+path}", "cleo://{+path}", "menus://{day}"]
      )
      expect(resourceTemplates.find(({ uriTemplate }) => uriTemplate === "bert://{+path}")).toMatchObject({
        name: `${members[1]!.business.name}: Menus`
      })
      expect(await client.readResource({ uri: "bert://a/b?c" })).toMatchObject({
        contents: [{ uri: "bert://a/b?c", text: "Menu of bert" }]
      })
      const shared = { contents: [{ text: expect.stringMatching(/^Menu of (anna|bert|cleo)$/) }] }
      expect(await client.readResource({ uri: "menus://monday" })).toMatchObject(shared)
      for (const uri of ["menus://monday/soup", "dora://a"]) {
        await expect(client.readResource({ uri })).rejects.toMatchObject({
          code: -32602,
          message: expect.stringContaining("There is no resource"),
          data: { uri }
        })
      }
    })
  })
})

describe("many tools", () => {
  const many = (from: string) =>
    Array.from({ length: 25 }, (_, i) => ({ ...look, name: `${from}_${i}`, description: `Does ${from} number ${i}.` }))

  it("above 40 are found, described and called by a fixed list", async () => {
    const before = servers.map(({ tools }) => tools)
    servers[0]!.tools = [...many("bake"), look]
    servers[1]!.tools = [...many("brew"), look]
    for (const i of [0, 1]) await live.list(berth, members[i]!)
    await withClient(async (client) => {
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
        "composite_members",
        "find_tools",
        "describe_tools",
        "call_tool"
      ])
      expect((await client.listTools()).tools.at(-1)).toMatchObject({
        name: "call_tool",
        annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true }
      })
      const found = await callTool(client, "find_tools", { query: "brewing number 7", limit: 3 })
      const { tools } = found.structuredContent as { tools: ReadonlyArray<{ name: string }> }
      expect(tools.length).toBeLessThanOrEqual(3)
      const page = async (args: object) =>
        (await callTool(client, "find_tools", { ...args })).structuredContent as {
          tools: ReadonlyArray<{ name: string }>
          total: number
        }
      const pages = [await page({}), await page({ offset: 20 }), await page({ offset: 40 })]
      expect(new Set(pages.flatMap((one) => one.tools.map(({ name }) => name))).size).toBe(pages[0]!.total)
      expect(pages.map((one) => one.tools.length)).toEqual([20, 20, pages[0]!.total - 40])
      expect(await page({ query: "brew", limit: 1, offset: 24 })).toMatchObject({ total: 25, tools: [{}] })
      // Though the best ranked member has 25 of its own.
      expect(await page({ limit: 1 })).toMatchObject({ tools: [{ name: "look" }] })
      expect(await page({ query: "unheard-of" })).toEqual({
        total: 0,
        tools: [],
        hint: expect.stringMatching(/^No tool matches "unheard-of".*leave query out/)
      })
      const name = `${slugOf(1)}__brew_7`
      const described = await callTool(client, "describe_tools", { names: ["look", name] })
      expect(described.structuredContent).toMatchObject({
        tools: [{ name: "look", outputSchema: { required: ["answers"] } }, { name, inputSchema: schema }]
      })
      expect(await callTool(client, "call_tool", { name, arguments: { q: "x" } })).toMatchObject({
        content: [{ text: "bert: brew_7" }]
      })
      expect((await callTool(client, "call_tool", { name: "look" })).structuredContent).toMatchObject({
        answers: [{ status: "ok" }, { status: "ok" }, { status: "ok" }]
      })
      const ofOne = `${slugOf(0)}__look`
      const insteads = [
        ["no", "find_tools finds one by what it does."],
        [ofOne, `Several businesses have it alike: call_tool look with businesses: ["${slugOf(0)}"].`]
      ] as const
      for (const [missing, instead] of insteads) {
        for (
          const [tool, args] of [["call_tool", { name: missing }], ["describe_tools", { names: [missing] }]] as const
        ) {
          const failed = await callTool(client, tool, args)
          expect([failed.isError, JSON.parse((failed.content[0] as { text: string }).text)]).toMatchObject([
            true,
            { error: { code: "not_found", message: `There is no tool ${missing} in this composite. ${instead}` } }
          ])
        }
        await expect(client.callTool({ name: missing })).rejects.toThrow(instead)
      }
      const partly = await callTool(client, "describe_tools", { names: ["no", "look", ofOne] })
      expect(partly.structuredContent).toMatchObject({
        tools: [{ name: "look" }],
        unknown: insteads.map(([missing, instead]) => ({ name: missing, instead }))
      })
      expect(JSON.stringify(partly.content)).toContain("There is no tool no. find_tools finds")
      const { tools: listed } = await client.listTools()
      expect(listed.find((one) => one.name === "find_tools")?.inputSchema.properties).toMatchObject({
        limit: { maximum: 50, default: 20 }
      })
    })
    before.forEach((tools, i) => (servers[i]!.tools = tools))
    for (const i of [0, 1]) await live.list(berth, members[i]!)
  })
})

describe("composite_members", () => {
  const list = async (client: Client) => (await callTool(client, "composite_members")).structuredContent

  it("says which tools have other names since two claim one", async () => {
    const before = servers.map(({ tools }) => tools)
    const [a, b, c] = servers
    const other = { type: "object", properties: { n: { type: "number" } } } as const
    // Two kinds of one tool, of which one is alone; and one that is called like a tool of ours.
    a!.tools = [look, change]
    b!.tools = [look, change, { ...change, name: "composite_members" }]
    c!.tools = [{ ...look, inputSchema: other }, change, { ...change, name: "composite_members" }]
    for (const member of members) await live.list(berth, member)
    await withClient(async (client) => {
      const names = (await client.listTools()).tools.map(({ name }) => name)
      expect(names.filter((name) => name === "composite_members")).toHaveLength(1)
      expect(new Set(names).size).toBe(names.length)
      for (const i of [1, 2]) expect(names).toContain(`${slugOf(i)}__composite_members`)
      expect(await list(client)).toMatchObject({
        members: members.map(({ slug }) => ({ slug, callable: true })),
        clashes: [
          {
            name: "composite_members",
            claims: ["the composite itself", `${slugOf(1)}: composite_members`, `${slugOf(2)}: composite_members`],
            isPrefixed: true
          }
        ]
      })
      expect(names).toContain("look")
      expect(names).toContain(`${slugOf(2)}__look`)
    })
    before.forEach((tools, i) => (servers[i]!.tools = tools))
    for (const member of members) await live.list(berth, member)
  })

  it("says so when no member is left, as the instructions do", async () => {
    const { id } = await compose(three.caller, { query_definition: { city: "Nowhere" } })
    await withClient(
      async (client) => {
        const instructions = client.getInstructions() ?? ""
        expect(instructions).toContain("No business meets its conditions at the moment")
        expect(instructions).not.toMatch(/several businesses|A tool that several have/)
        expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["composite_members"])
        expect(await list(client)).toMatchObject({
          members: [],
          note: expect.stringContaining("No business meets its conditions at the moment")
        })
      },
      undefined,
      `/mcp/composites/${id}`
    )
  })
})

describe("a member's list", () => {
  // The first on the session's own stream, the second on that of the call.
  it.each(["change", "renew"])(
    "is stored anew when it says in an account's first call (%s) that it changed",
    async (tool) => {
      const added = `added-by-${tool}`
      servers[0]!.tools = [look, change, { ...look, name: "renew" }]
      await live.list(berth, members[0]!)
      const fresh = await berth.signUp("enterprise")
      const at = await compositeOf(members.slice(0, 1), fresh)
      servers[0]!.tools = [look, change, { ...look, name: "renew" }, { ...look, name: added }]
      servers[0]!.templates = [`${added}://{day}`]
      const called = await withClient((client) => callTool(client, `${slugOf(0)}__${tool}`), fresh.token, at)
      expect(called.isError, JSON.stringify(called.content)).not.toBe(true)
      const names = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name)
      await expect.poll(() => withClient(names, fresh.token, at), { timeout: 20_000, interval: 800 })
        .toContain(`${slugOf(0)}__${added}`)
      await withClient(
        async (client) => {
          expect((await client.listResourceTemplates()).resourceTemplates)
            .toMatchObject([{ uriTemplate: `${added}://{day}` }])
          expect(await client.readResource({ uri: `${added}://monday` })).toMatchObject({
            contents: [{ text: "Menu of anna" }]
          })
        },
        fresh.token,
        at
      )
      servers[0]!.tools = [look, change]
      await live.list(berth, members[0]!)
    },
    40_000
  )
})
