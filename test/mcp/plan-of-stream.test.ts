import { expect, it } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"
import { runSql } from "../support/sql.ts"

const berth = useBerth()

it("a stream that is open while the account's plan gets smaller has the limits of the smaller one", async () => {
  const account = await berth.signUp("enterprise")
  const project = await account.project()
  await account.server(project.id)
  await account.server(project.id)
  const client = await connectMcp(berth.url, { token: account.token, way: "SSE" })
  await runSql(berth.databaseUrl, "UPDATE users SET plan = 'free' WHERE id = $1", [account.id])
  const made = await callTool(client, "create_server", { projectId: project.id, name: "Third" })
  expect([made.isError, textOf(made)]).toEqual([
    true,
    expect.objectContaining({
      error: expect.objectContaining({ code: "PLAN_LIMIT_REACHED", details: expect.anything() as unknown }) as unknown
    })
  ])
  await client.close()
})
