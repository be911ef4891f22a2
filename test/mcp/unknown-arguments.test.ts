import { type Client } from "@modelcontextprotocol/sdk/client/index.js"
import { beforeAll, describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { compose, hubKey } from "../support/composites.ts"
import { connectDirectory } from "../support/directory-door.ts"
import { type FailureBody } from "../support/http.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"

const berth = useBerth()
let owner: Account
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
})

const told = { path: "verbose", message: "is not a known field" }

/** What each of the tools answers to an argument that none has. */
const refusals = async (client: Client, names: ReadonlyArray<string>) => {
  for (const name of names) {
    const result = await callTool(client, name, { verbose: 1 })
    const { error } = textOf(result) as FailureBody
    expect([name, result.isError, error.details?.issues], JSON.stringify(error))
      .toEqual([name, true, expect.arrayContaining([told])])
  }
}
const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name)

describe("an argument that a tool does not know is refused", () => {
  it("by every tool of /mcp, for a session and for a hub key", async () => {
    for (const token of [owner.token, (await hubKey(berth, owner)).token]) {
      const client = await connectMcp(berth.url, { token, query: "?toolsets=all" })
      const names = await namesOf(client)
      expect(names.length).toBeGreaterThan(10)
      await refusals(client, names)
      await client.close()
    }
  })

  it("by every tool of /mcp/directory", async () => {
    const client = await connectDirectory(berth.url)
    await refusals(client, await namesOf(client))
    await client.close()
  })

  it("by the own tools of a composite, in the hub's code, as every other fault of theirs", async () => {
    const { id } = await compose(owner, { query_definition: { city: "Nowhere" } })
    const client = await connectMcp(berth.url, { token: owner.token, path: `/mcp/composites/${id}` })
    const own = ["composite_members", "find_tools", "describe_tools", "call_tool"]
    await refusals(client, own)
    const faults = [
      ["composite_members", { verbose: 1 }],
      ["find_tools", { limit: 51 }],
      ["find_tools", { query: 7 }],
      ["find_tools", { offset: -1 }],
      ["describe_tools", {}],
      ["describe_tools", { names: [] }],
      ["call_tool", {}],
      ["call_tool", { name: "x", arguments: 7 }]
    ] as const
    for (const [name, args] of faults) {
      expect([name, args, textOf(await callTool(client, name, args))]).toEqual([name, args, {
        error: { code: "validation_error", message: expect.any(String), details: expect.anything() }
      }])
    }
    await client.close()
  })
})
