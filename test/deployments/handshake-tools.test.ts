import { longestDescription, mostTools } from "#src/deployments/McpReport.ts"
import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"
import { answering, listing, type Rpc, tryWith } from "./support/mcp-servers.ts"

describe("the tools that are kept", () => {
  const named = (count: number, from = 0) =>
    Array.from({ length: count }, (_, i) => ({ name: `tool_${from + i}`, inputSchema: { type: "object" } }))

  it("are all of its pages", async () => {
    const pages = answering(({ params }) => {
      const at = Number(params?.["cursor"] ?? 0)
      return { tools: named(10, at * 10), ...(at < 4 ? { nextCursor: String(at + 1) } : {}) }
    })
    expect(await tryWith(pages)).toMatchObject({ toolCount: 50, problem: null })
  })

  it.each<[string, (rpc: Rpc) => unknown]>([
    ["a list that is too long", () => ({ tools: named(30_000) })],
    ["pages that never end", ({ params }) => {
      const at = Number(params?.["cursor"] ?? 0)
      return { tools: named(3, at * 3), nextCursor: String(at + 1) }
    }],
    ["a page that names itself", () => ({ tools: named(1), nextCursor: "x" })],
    ["a cursor of a megabyte", () => ({ tools: named(1), nextCursor: "x".repeat(1_000_000) })]
  ])("are cut, and the cut is told: %s", async (_, results) => {
    const report = await tryWith(answering(results), { seconds: 20 })
    expect(report.ok).toBe(true)
    expect(report.toolCount).toBeLessThanOrEqual(mostTools)
    expect(report.problem).toContain("not all tools are read, but 200 at most")
  })

  it("are told of that the official SDK's clients refuse", async () => {
    const fine = { name: "fine", inputSchema: { type: "object" } }
    const refused = { name: "bare", inputSchema: { $schema: "https://json-schema.org/draft/2020-12/schema" } }
    expect(await tryWith(listing([fine, refused, { name: "none" }]))).toMatchObject({
      ok: true,
      toolCount: 3,
      problem: expect.stringMatching(/refuse all of it: inputSchema\.type of the tool "bare" is not what MCP asks for/)
    })
    expect(await tryWith(listing([fine]))).toMatchObject({ ok: true, problem: null })
  })

  it("have a name that shows as it is called, one of each, and a description that is one short line", async () => {
    const report = await tryWith(listing([
      { name: "good", description: `a\n\n\u0000\u202eb${"c".repeat(1_000_000)}` },
      { name: "good", description: "the second" },
      { name: "del\u200bete" },
      { name: "\u001b[31mred" },
      { name: "\ud800" },
      { name: " space" },
      { name: "" },
      { name: "x".repeat(129) },
      { name: 7 },
      null,
      "tool",
      { name: "` ](https://evil.example) <b>", description: 7 },
      { name: "__proto__", title: "Fine" }
    ]))
    expect(report.tools).toEqual([
      { name: "good", description: expect.stringMatching(/^a bc+…$/) },
      { name: "` ](https://evil.example) <b>", description: "" },
      { name: "__proto__", description: "Fine" }
    ])
    expect(report.tools[0]!.description.length).toBe(longestDescription)
    expect(report).toMatchObject({
      ok: true,
      toolCount: 3,
      problem: expect.stringContaining("10 of the tools are left out")
    })
  })

  it("are described to others as long as all hold ten thousand values at most, and the rest is told", async () => {
    const holding = (name: string, values: number) => ({
      name,
      inputSchema: { type: "object", enum: Array.from({ length: values }, () => 1) }
    })
    const { features, problem, toolCount } = await tryWith(
      listing([holding("large", 6_000), holding("larger", 7_000), holding("small", 10)])
    )
    expect(toolCount).toBe(3)
    expect(features.tools.map(({ name }) => name)).toEqual(["large", "small"])
    expect(problem).toBe(
      "1 of the tools' definitions are left out: all definitions together may have 512 KiB and 10000 values"
    )
  })

  it("can be stored and shown, whatever a machine lists", async () => {
    const values = fc.sample(fc.jsonValue(), 20)
    const hostile = fc.sample(
      fc.record({ name: fc.string({ unit: "binary" }), description: fc.string({ unit: "binary" }) }),
      200
    )
    const report = await tryWith(listing([...values, ...hostile]))
    expect(report.ok).toBe(true)
    for (const { description, name } of report.tools) {
      expect(`${name}${description}`).not.toMatch(/\p{Cc}|\p{Cs}|\p{Cf}/u)
      expect(name.length).toBeLessThanOrEqual(128)
    }
  })
})

describe("the resource templates that are kept", () => {
  const listed = [{ uri: "menu://today", name: "Today" }]
  const withTemplates = (templates: unknown) =>
    answering(
      ({ method }) =>
        method === "resources/templates/list"
          ? templates
          : method === "resources/list"
          ? { resources: listed }
          : { tools: [] },
      [],
      { tools: {}, resources: {} }
    )
  const kept = async (templates: unknown, seconds = 2) =>
    (await tryWith(withTemplates(templates), { seconds })).features

  it("are those by which a URI can be found, as they are called, in words that can be stored", async () => {
    const { templates } = await kept({
      resourceTemplates: [
        { uriTemplate: "menu://{day}", name: "A\u0000\nday", mimeType: "text/plain", description: "Of a day\ud800" },
        { uriTemplate: "menu://{day" },
        { uriTemplate: "menu://{(a+)+}" },
        { uriTemplate: `menu://${"{x}".repeat(11)}` },
        { uriTemplate: `menu://${"x".repeat(500)}` },
        { uriTemplate: "menu://\u202e{day}" },
        { uriTemplate: 7 },
        null
      ]
    })
    expect(templates).toEqual([
      { uriTemplate: "menu://{day}", name: "A day", mimeType: "text/plain", description: "Of a day\ufffd" }
    ])
  })

  it("are none where a server answers something else, or not in time; the rest is kept", async () => {
    const silent = new Promise(() => undefined)
    for (const odd of [undefined, 7, {}, { resourceTemplates: "x" }, silent]) {
      expect(await kept(odd, odd === silent ? 0.5 : 2)).toMatchObject({ resources: listed, templates: [] })
    }
  })

  it("are a hundred at most, none too long, and what is left out is told", async () => {
    const many = Array.from({ length: 200 }, (_, at) => ({ uriTemplate: `menu-${at}://{day}`, name: "Menu" }))
    const { features, problem } = await tryWith(withTemplates({ resourceTemplates: [{ uriTemplate: 7 }, ...many] }))
    expect(features.templates).toHaveLength(99)
    expect(problem).toBe(
      "not all of the resource templates are read, but 100 at most, of 4 MiB together and no page twice; " +
        "1 of the resource templates are left out: they are not what MCP asks for, or too long"
    )
    expect((await tryWith(withTemplates(undefined))).problem)
      .toBe("resources/templates/list gave no list, so no resource templates are known")
  })

  it("are read to their last page, as prompts, resources and tools are; a page that comes again is the last", async () => {
    const kinds = {
      "tools/list": ["tools", (at: number) => ({ name: `t${at}`, inputSchema: { type: "object" } })],
      "prompts/list": ["prompts", (at: number) => ({ name: `p${at}` })],
      "resources/list": ["resources", (at: number) => ({ uri: `menu://${at}`, name: "Menu" })],
      "resources/templates/list": ["resourceTemplates", (at: number) => ({ uriTemplate: `m${at}://{x}`, name: "M" })]
    } as const
    const paged = (last: number, next: (at: number) => string | undefined) =>
      tryWith(answering(
        ({ method, params }) => {
          const [field, one] = kinds[method as keyof typeof kinds]
          const at = Number(params?.["cursor"] ?? 0)
          return { [field]: [one(at)], ...(at < last ? { nextCursor: String(at + 1) } : { nextCursor: next(at) }) }
        },
        [],
        { tools: {}, prompts: {}, resources: {} }
      ))
    const { features, problem } = await paged(24, () => undefined)
    expect(problem).toBe(null)
    expect(Object.values(features).map(({ length }) => length)).toEqual([25, 25, 25, 25])
    const turning = await paged(2, () => "1")
    expect(Object.values(turning.features).map(({ length }) => length)).toEqual([3, 3, 3, 3])
    expect(turning.problem).toContain("not all of the prompts are read")
  })

  it("are those for which there is room beside all else", async () => {
    const large = (at: number) => ({
      name: `large_${at}`,
      inputSchema: { type: "object", description: "x".repeat(30_000) }
    })
    const description = "x".repeat(1_900)
    const many = Array.from(
      { length: 100 },
      (_, at) => ({ uriTemplate: `menu-${at}://{day}`, name: "Menu", description })
    )
    const { features, problem } = await tryWith(answering(
      ({ method }) =>
        method === "resources/templates/list"
          ? { resourceTemplates: [...many, { uriTemplate: "small://{day}" }] }
          : { tools: Array.from({ length: 17 }, (_, at) => large(at)), resources: listed },
      [],
      { tools: {}, resources: {} }
    ))
    expect(features.tools).toHaveLength(17)
    expect(features.templates.length).toBeGreaterThan(0)
    expect(features.templates.length).toBeLessThan(100)
    expect(problem).toMatch(/\d+ of the resource templates are left out: all definitions together may have 512 KiB /)
  })
})
