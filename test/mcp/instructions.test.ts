import { describe, expect, it } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { connectMcp } from "../support/mcp.ts"

const berth = useBerth()

describe("the instructions of the MCP endpoint", () => {
  it("name tools that the credential may call, and no others", async () => {
    const owner = await berth.signUp("enterprise")
    const hub = await owner.post<{ readonly data: { readonly key: string } }>("/api/v1/hub/api-keys", {})
    const { key } = await owner.key((await owner.project()).id, ["logs:read"])
    const told = []
    for (const token of [owner.token, hub.body.data.key, key]) {
      const client = await connectMcp(berth.url, { token })
      const instructions = client.getInstructions() ?? ""
      const names = new Set((await client.listTools()).tools.map(({ name }) => name))
      const named = instructions.match(/[a-z]+(?:_[a-z]+)+|\bdeploy(?=,)|rollback/g) ?? []
      expect(named.filter((name) => !names.has(name))).toEqual([])
      told.push(named)
      await client.close()
    }
    const finding = ["directory_search", "hub_listing_skill"]
    const rest = ["find_tools", "call_tool"]
    const hosting = [
      "create_project",
      "create_server",
      "set_env",
      "deploy",
      "create_test_token",
      "get_logs",
      "rollback"
    ]
    const catalog = ["publish_business", "list_businesses", "get_catalog", "update_catalog_item"]
    expect(told).toEqual([
      [
        ...hosting,
        ...catalog,
        ...finding,
        "create_server_token",
        "hub_composites",
        "hub_browse_composites",
        "get_plan",
        "list_plans",
        ...rest,
        "wait_for_deployment"
      ],
      [...finding, "create_server_token", "hub_composites", "hub_browse_composites", "list_plans", ...rest],
      ["get_logs", ...finding, "list_plans", ...rest]
    ])
  })
})
