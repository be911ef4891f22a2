import { FastCheck as fc } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { bodyOf, runs } from "../support/fuzz.ts"
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
    const connect = () => connectMcp(berth.url, { token: owner.token })
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
})
