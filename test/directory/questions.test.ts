import { type Client } from "@modelcontextprotocol/sdk/client/index.js"
import pg from "pg"
import { beforeAll, describe, expect, it } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { connectDirectory } from "../support/directory-door.ts"
import { freshAddress } from "../support/http.ts"
import { callTool } from "../support/mcp.ts"
import { settle } from "./questions/settle.ts"
import { asked } from "./questions/town.ts"

const berth = useBerth()
let client: Client

interface Found {
  readonly businesses: ReadonlyArray<{ readonly name: string; readonly isOpenNow: boolean | null }>
}
const find = async (query: string) =>
  ((await callTool(client, "search_businesses", { query, limit: 3 })).structuredContent as unknown as Found).businesses

beforeAll(async () => {
  const owner = await berth.signUp("enterprise")
  const pool = new pg.Pool({ connectionString: berth.databaseUrl, max: 1 })
  await settle(pool, (await owner.project()).id)
  await pool.end()
  client = await connectDirectory(berth.url, { "x-forwarded-for": freshAddress() })
})

describe("a search at the agents' door, of a kind of question,", () => {
  it("knows catalogs and names in other scripts once jobs have indexed them", async () => {
    await expect.poll(() => find("ukulele seattle"), { timeout: 30_000 }).toContainEqual(
      expect.objectContaining({ name: "Puget Music" })
    )
    await expect.poll(() => find("yoshinoya"), { timeout: 30_000 }).toMatchObject([{ name: "吉野家" }])
  })

  it.each(Object.entries(asked))("finds what a person expects among the first three: %s", async (kind, questions) => {
    const missed: Array<readonly [string, ReadonlyArray<string>]> = []
    for (const [question, ...names] of questions) {
      const found = await find(question)
      if (!found.some(({ name }) => names.includes(name))) missed.push([question, found.map(({ name }) => name)])
      if (kind === "open now") expect(found.filter(({ isOpenNow }) => isOpenNow !== true), question).toEqual([])
    }
    expect(missed).toEqual([])
  })
})
