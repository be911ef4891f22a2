import { beforeAll, describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { goodBodies } from "../support/bodies.ts"
import { type FailureBody } from "../support/http.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"
import { sampled } from "../support/needs.ts"
import { inPlainWords, oddValues } from "../support/plain-words.ts"
import { twins } from "./twins.ts"

const berth = useBerth()
let owner: Account

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
})

/** Arguments that fit; nothing has such ids. */
const argumentsOf = (tool: string, fields: ReadonlyArray<string>) => {
  const operation = Object.keys(twins).find((name) => twins[name] === tool && goodBodies[name] !== undefined) ?? ""
  const ids = fields.filter((name) => name.endsWith("Id") || name === "name").map((name) => [name, "none"])
  return { ...Object.fromEntries(ids) as Record<string, unknown>, ...goodBodies[operation] }
}

describe("what is wrong with a tool's arguments is told in plain words", () => {
  it("whatever is sent for each field of each tool, unknown ones, and none at all", async () => {
    const { tools } = await (await connectMcp(berth.url, { token: owner.token, query: "?toolsets=all" })).listTools()
    for (const { inputSchema, name } of sampled(tools, 12)) {
      const client = await connectMcp(berth.url, { token: owner.token })
      const issuesFor = async (args: Readonly<Record<string, unknown>>) => {
        const result = await callTool(client, name, args)
        if (result.isError !== true) return []
        const body = textOf(result) as FailureBody
        expect([name, body.error.code.toUpperCase()]).not.toEqual([name, "INTERNAL_ERROR"])
        // What a tool that reads is asked with is a query over HTTP.
        const isFault = ["VALIDATION_ERROR", "BAD_REQUEST", "INVALID_INPUT"].includes(body.error.code.toUpperCase())
        return isFault ? inPlainWords([name, args], body) : []
      }
      const fields = Object.keys(inputSchema.properties ?? {})
      const good = argumentsOf(name, fields)
      const refused = new Set<string>()
      for (const value of oddValues) {
        const odd = Object.fromEntries(fields.map((field) => [field, value]))
        for (const { path } of await issuesFor({ ...good, ...odd })) refused.add(path.split(".")[0] ?? "")
      }
      expect([...refused].sort(), name).toEqual([...fields].sort())
      expect(await issuesFor({ ...good, extra: 1 }), name).toEqual(
        expect.arrayContaining([{ path: "extra", message: "is not a known field" }])
      )
      const missing = (await issuesFor({})).filter(({ message }) => message === "is required").map(({ path }) => path)
      expect(missing.sort(), name).toEqual([...inputSchema.required ?? []].sort())
      await client.close()
    }
  }, 120_000)
})
