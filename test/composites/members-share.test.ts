import { inShares, weightOf } from "#src/composites/members-share.ts"
import { type McpFeatures, noFeatures } from "#src/servers/McpFeatures.ts"
import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"

const tool = (name: string, values: number) => ({
  name,
  description: "",
  inputSchema: { type: "object", enum: Array.from({ length: values }, () => 1) }
})

const member = (...sizes: ReadonlyArray<number>): { readonly features: McpFeatures } => ({
  features: { ...noFeatures, tools: sizes.map((size, at) => tool(`tool_${at}`, size)) }
})

const total = (members: ReturnType<typeof inShares>) =>
  members.reduce((sum, { features }) => sum + weightOf(features), 0)

describe("what a composite takes of its members' definitions", () => {
  const members = fc.array(fc.array(fc.nat(300), { maxLength: 8 }), { maxLength: 12 })
    .map((all) => all.map((sizes) => member(...sizes)))

  it("is all of them where there is room", () => {
    fc.assert(fc.property(members, (all) => {
      expect(inShares(all, total(all))).toEqual(all)
    }))
  })

  it("is never more than there is room for, and of each all up to an equal share, in its order", () => {
    fc.assert(fc.property(members, fc.integer({ min: 200, max: 3_000 }), (all, most) => {
      const kept = inShares(all, most)
      expect(kept).toHaveLength(all.length)
      // The lists themselves, where a member has lost all that was in them, weigh a few values.
      expect(total(kept)).toBeLessThanOrEqual(most + 10 * all.length)
      for (const [at, { features }] of all.entries()) {
        const { tools } = kept[at]!.features
        if (weightOf(features) <= most / all.length) expect(tools).toEqual(features.tools)
        expect(features.tools.filter((one) => tools.includes(one))).toEqual(tools)
      }
    }))
  })

  it("takes nothing from a small member, however much the others declare", () => {
    const hostile = Array.from({ length: 49 }, () => member(...Array.from({ length: 16 }, () => 300)))
    const small = member(20, 20)
    const kept = inShares([small, ...hostile], 10_000)
    expect(kept[0]).toBe(small)
    expect(total(kept)).toBeLessThan(11_000)
  })

  it("counts letters, too", () => {
    const long = { ...tool("long", 0), description: "x".repeat(2_000) }
    const wordy = { features: { ...noFeatures, tools: [long, tool("short", 0)] } }
    expect(inShares([wordy], 50)[0]?.features.tools.map(({ name }) => name)).toEqual(["short"])
  })
})
