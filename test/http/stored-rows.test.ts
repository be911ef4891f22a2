import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Berth } from "../support/Berth.ts"
import { callTool, connectMcp } from "../support/mcp.ts"
import { runSql } from "../support/sql.ts"

describe("a row that does not fit its schema", () => {
  const berth = new Berth()
  beforeAll(() => berth.start())
  afterAll(() => berth.stop())

  it("is nobody's fault but ours: 500 by both doors, without a word of the row, and the log has it", async () => {
    const owner = await berth.signUp()
    const server = await owner.server((await owner.project()).id)
    await runSql(
      berth.databaseUrl,
      "UPDATE servers SET auth_mode = 'byoa', byoa_config = '{\"surprise\": 1}' WHERE id = $1",
      [server.id]
    )
    const answer = await owner.get(`/v1/servers/${server.id}`)
    expect(answer.status).toBe(500)
    expect(JSON.stringify(answer.body)).not.toMatch(/byoa|issuer|surprise/i)

    const client = await connectMcp(berth.url, { token: owner.token })
    const result = await callTool(client, "get_server", { serverId: server.id })
    await client.close()
    expect(result.isError).toBe(true)
    expect(JSON.stringify(result.content)).toContain("INTERNAL_ERROR")
    expect(JSON.stringify(result.content)).not.toMatch(/byoa|issuer|surprise/i)
    expect(berth.unexpected).toHaveLength(2)
  })
})
