import { FastCheck as fc } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { connectDirectory } from "../support/directory-door.ts"
import { bodyOf, runs } from "../support/fuzz.ts"
import { freshAddress } from "../support/http.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"
import { sampled } from "../support/needs.ts"
import { twins } from "./twins.ts"

const berth = useBerth()
let owner: Account
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
})

describe("whatever a tool is called with, nothing fails on our side", () => {
  it("any arguments, to every tool", async () => {
    const connect = () => connectMcp(berth.url, { token: owner.token, query: "?toolsets=all" })
    const { tools } = await (await connect()).listTools()
    const server = await owner.server((await owner.project()).id)
    const real = { serverId: server.id, projectId: server.projectId }
    for (const { inputSchema, name } of sampled(tools, 3)) {
      // A deletion would end the others' subject.
      const ids = name.startsWith("delete_") ? {} : real
      const fields = Object.keys(inputSchema.properties ?? { none: true })
      const operation = Object.keys(twins).find((candidate) => twins[candidate] === name) ?? ""
      const known = Object.fromEntries(Object.entries(ids).filter(([field]) => fields.includes(field)))
      // Node warns of a client that sends thousands of requests.
      const client = await connect()
      const given = bodyOf(operation, fields.length === 0 ? ["none"] : fields)
      await fc.assert(
        fc.asyncProperty(given, fc.boolean(), async (args, atReal) => {
          if (typeof args !== "object" || args === null || Array.isArray(args)) return
          const result = await callTool(client, name, { ...args as object, ...(atReal ? known : {}) })
          if (result.isError !== true) return
          const { error } = textOf(result) as { readonly error: { readonly code: string; readonly message: string } }
          expect(error.code, name).toEqual(expect.stringMatching(/^(?!internal_error$)[a-z_]+$/i))
          expect(error.message).toMatch(/\S/)
        }),
        { ...runs, numRuns: Math.ceil(runs.numRuns / 3) }
      )
      await client.close()
    }
  }, 120_000)

  it("any arguments, to every tool of the directory's door", async () => {
    const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("Denver, CO", "80202", "%", "'", "\\", "*"))
    const number = fc.oneof(fc.double(), fc.integer({ min: -200, max: 200 }), text)
    const right = fc.record({
      query: text,
      city: text,
      category: text,
      slug: text,
      slugs: fc.array(text, { maxLength: 12 }),
      open_now: fc.boolean(),
      lat: number,
      lng: number,
      radius_miles: number,
      limit: number
    })
    const { tools } = await (await connectDirectory(berth.url)).listTools()
    for (const { inputSchema, name } of tools) {
      const client = await connectDirectory(berth.url, { "x-forwarded-for": freshAddress() })
      const fields = Object.keys(inputSchema.properties ?? {})
      await fc.assert(
        fc.asyncProperty(right, fc.subarray(fields), async (all, some) => {
          const args = Object.fromEntries(some.map((field) => [field, all[field as keyof typeof all]]))
          const result = await callTool(client, name, args)
          if (result.isError !== true) return
          const { error } = textOf(result) as { readonly error: { readonly code: string; readonly message: string } }
          expect(error.code, `${name} ${JSON.stringify(args)}`).toMatch(/^(bad_request|not_found)$/)
        }),
        { ...runs, numRuns: Math.min(100, runs.numRuns) }
      )
      await client.close()
    }
  }, 120_000)
})
