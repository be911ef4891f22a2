import { merge, type Offering } from "#src/composites/merge.ts"
import { templateOwner } from "#src/composites/prompts-and-resources.ts"
import { noFeatures } from "#src/servers/McpFeatures.ts"
import { describe, expect, it } from "vitest"

describe("prompts and resources", () => {
  const prompt = { name: "greet", description: "Greets.", arguments: [] }
  const resource = { uri: "menu://today", name: "Menu", description: "" }
  const template = { uriTemplate: "menu://{day}", name: "A day's menu", title: "Menu of a day", description: "" }
  const both = (slug: string): Offering => ({
    slug,
    name: `Named ${slug}\u202e`,
    features: { tools: [], prompts: [prompt], resources: [{ ...resource, description: slug }], templates: [template] }
  })

  it("prompts have the slug before them; a URI is untouched, and the better ranked has it", () => {
    const { prompts, resources } = merge([both("a"), both("b")], new Set())
    expect(prompts.map(({ name, slug }) => [name, slug])).toEqual([["a__greet", "a"], ["b__greet", "b"]])
    expect([...resources]).toMatchObject([["menu://today", { slug: "a", resource: { description: "a" } }]])
  })

  it("tell whose they are in their words", () => {
    const { prompts, resources } = merge([both("a"), both("b")], new Set())
    expect(prompts.map((one) => one.prompt)).toMatchObject([
      { name: "greet", description: "Named a: Greets." },
      { name: "greet", description: "Named b: Greets." }
    ])
    expect([...resources.values()]).toMatchObject([{ resource: { uri: "menu://today", name: "Named a: Menu" } }])
  })

  it("templates are untouched and the better ranked's, in words that tell whose they are", () => {
    expect(merge([both("a"), both("b")], new Set()).templates).toMatchObject([{
      slug: "a",
      template: { ...template, name: "Named a: A day's menu", title: "Named a: Menu of a day" }
    }])
  })

  const offering = (slug: string, ...templates: ReadonlyArray<string>): Offering => ({
    slug,
    name: slug,
    features: { ...noFeatures, templates: templates.map((uriTemplate) => ({ ...template, uriTemplate })) }
  })

  it("a URI is the better ranked's of those whose templates fit, however much another's say of it", () => {
    const { templates } = merge(
      [offering("a", "menu://{day}"), offering("b", "menu://mon{rest}", "wine://{name}")],
      new Set()
    )
    expect(templateOwner(templates, "menu://monday")).toBe("a")
    expect(templateOwner(templates, "wine://red")).toBe("b")
    expect(templateOwner(templates, "other://monday")).toBeUndefined()
  })

  it("a template that names no scheme, and so claims the URIs of everybody, is nobody's", () => {
    const { templates } = merge([offering("greedy", "{+all}", "{scheme}://x", "menu://{day}")], new Set())
    expect(templates.map((one) => one.template.uriTemplate)).toEqual(["menu://{day}"])
    expect(templateOwner(templates, "file:///etc/passwd")).toBeUndefined()
  })

  it("members have equal shares of a hundred templates, whoever comes first", () => {
    const many = (slug: string) => offering(slug, ...Array.from({ length: 100 }, (_, at) => `${slug}${at}://{x}`))
    const counts = (slugs: ReadonlyArray<string>) => {
      const { templates } = merge([...slugs.map(many), offering("none")], new Set())
      return slugs.map((slug) => templates.filter((one) => one.slug === slug).length)
    }
    expect(counts(["a"])).toEqual([100])
    expect(counts(["a", "b", "c", "d"])).toEqual([25, 25, 25, 25])
    // Of more members than templates the better ranked have one each.
    const all = Array.from({ length: 150 }, (_, at) => `m${String.fromCharCode(97 + at % 26)}${"x".repeat(at)}`)
    expect(counts(all)).toEqual(all.map((_, at) => at < 100 ? 1 : 0))
  })
})
