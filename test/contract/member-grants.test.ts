import { describe, expect } from "vitest"
import { useThreeMembers } from "../composites/three-members.ts"
import { type Listed } from "../support/account.ts"
import { callTool } from "../support/mcp.ts"
import { row } from "./row.ts"

const three = useThreeMembers()
const { berth, compositeOf, members, withClient } = three

describe("a grant to composites", () => {
  row(
    "POST /v1/auth/grants/:grantId/renew → 200; composites may call that server for the account again, 404 for others",
    async () => {
      const mine = await berth.signUp()
      const at = await compositeOf(members, mine)
      const look = () => withClient(async (client) => JSON.stringify(await callTool(client, "look")), mine.token, at)
      await look()
      const { data } =
        (await mine.get<Listed<{ readonly id: string; readonly serverId: string }>>("/v1/auth/grants")).body
      const { id } = data.find(({ serverId }) => serverId === members[0]!.server.id)!
      await mine.delete(`/v1/auth/grants/${id}`)
      expect(await look()).toContain("was revoked")
      expect((await three.caller.post(`/v1/auth/grants/${id}/renew`, {})).status).toBe(404)
      expect((await mine.request("POST", `/v1/auth/grants/${id}/renew`)).status).toBe(200)
      expect(await look()).not.toContain("was revoked")
    }
  )
})
