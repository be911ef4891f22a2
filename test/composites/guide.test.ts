import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { hubKey, rated } from "../support/composites.ts"
import { callTool, connectMcp } from "../support/mcp.ts"

const berth = useBerth()

interface Call {
  readonly tool: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/** The calls of the guide, as they are printed there. */
const printed = (text: string) =>
  [...text.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json]) => JSON.parse(json!) as Call)

it("the guide use-composites: its calls work as they are printed, and end in a composite that can be asked", async () => {
  const owner = await berth.signUp("enterprise")
  for (const name of ["Uno", "Due"]) {
    await rated(berth, owner, { name, city: "Austin", industry: "restaurant" } as { name: string; city: string })
  }
  const { token } = await hubKey(berth, owner)
  const client = await connectMcp(berth.url, { token })
  const calls = printed(readFileSync("skills/use-composites/SKILL.md", "utf8"))
  expect(calls.map(({ tool }) => tool)).toEqual(["hub_composites", "hub_browse_composites", "hub_create_composite"])
  let made = ""
  for (const { arguments: args, tool } of calls) {
    const { isError, structuredContent } = await callTool(client, tool, args)
    expect(isError, tool).not.toBe(true)
    if (tool === "hub_composites") expect(structuredContent).toMatchObject({ data: [{ memberCount: 2 }] })
    if (tool === "hub_create_composite") made = (structuredContent as { id: string }).id
  }
  await client.close()
  const composite = await connectMcp(berth.url, { token, path: `/mcp/composites/${made}` })
  expect((await callTool(composite, "composite_members")).structuredContent).toMatchObject({
    members: [{ callable: false }, { callable: false }]
  })
  await composite.close()
})
