import { expect, it } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { composites, hubKey } from "../support/composites.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"

const berth = useBerth()

it("tools of one composite name their own argument in the hub's code; the path over HTTP is called id", async () => {
  const owner = await berth.signUp("enterprise")
  const key = await hubKey(berth, owner)
  const client = await connectMcp(berth.url, { token: key.token })
  const wrong = [
    [{}, "compositeId: is required"],
    [{ compositeId: "abc" }, "compositeId: must be a 26-character ULID"],
    [{ compositeId: "0".repeat(26), other: 1 }, "other: is not a known field"]
  ] as const
  for (
    const name of ["get", "delete", "promote"].map((verb) => `hub_${verb}_composite`).concat("hub_composite_skill")
  ) {
    for (const [args, message] of wrong) {
      const result = await callTool(client, name, args)
      expect([result.isError, textOf(result)], `${name} ${JSON.stringify(args)}`)
        .toMatchObject([true, { error: { code: "validation_error", message } }])
    }
  }
  const update = await callTool(client, "hub_update_composite", { compositeId: "abc", name: "x" })
  expect(textOf(update)).toEqual({
    error: { code: "validation_error", message: "compositeId: must be a 26-character ULID" }
  })
  for (const path of ["abc", "abc/skill.md"]) {
    expect((await key.get(`${composites}/${path}`)).body).toEqual({
      error: { code: "validation_error", message: "id: must be a 26-character ULID" }
    })
  }
  await client.close()
})

it("tools of one listing do the same", async () => {
  const owner = await berth.signUp("enterprise")
  const client = await connectMcp(berth.url, { token: owner.token })
  const codes = {
    hub_listing_skill: "validation_error",
    hub_get_capability_doc: "validation_error",
    hub_listing_analytics: "invalid_input",
    hub_listing_daily_analytics: "invalid_input",
    hub_list_unmet_searches: "invalid_input"
  }
  for (const [name, code] of Object.entries(codes)) {
    for (const [args, message] of [[{}, "is required"], [{ listingId: "x" }, "must be a 26-character ULID"]] as const) {
      expect(textOf(await callTool(client, name, args)), name)
        .toMatchObject({ error: { code, message: `listingId: ${message}` } })
    }
  }
  await client.close()
})
