import { readFileSync } from "node:fs"
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import { useProgram } from "../program/support/program.ts"
import { describeLong } from "../support/needs.ts"
import { type Doors, doorsOf } from "./support/addresses.ts"
import { personByHttp } from "./support/person-by-http.ts"
import { callSecondSdk, connectSecondSdk, type Era, signInSecondSdk } from "./support/second-sdk.ts"
import "./support/localhost-names.mjs"

const missing = process.platform === "linux" ? undefined : "machines run on Linux only"

interface Found {
  readonly data: ReadonlyArray<{ readonly id: string; readonly mcpServerUrl: string }>
}
interface Token {
  readonly accessToken: string
}
interface Named {
  readonly id: string
  readonly publicUrl: string
}

/** How a client meets both doors: by which revisions, and at which end of an address. */
const ways: ReadonlyArray<readonly [string, Era, "mcp" | "sse", string]> = [
  ["revision 2026-07-28", { pin: "2026-07-28" }, "mcp", "2026-07-28"],
  ["the newest revision of both sides", "auto", "mcp", "2026-07-28"],
  ["sessions over Streamable HTTP", "legacy", "mcp", "2025-11-25"],
  ["sessions over SSE", "legacy", "sse", "2025-11-25"]
]

describeLong("whole jobs by the client of the SDK's second version", () => {
  const program = useProgram()
  let doors: Doors
  let readyConfig = ""
  beforeAll(async () => {
    doors = await doorsOf(program())
    readyConfig = readFileSync(join(program().place.folder, "examples/restaurant/ready-config.json"), "utf8")
  })

  describe.each(ways)("in %s", (_name, era, end, revision) => {
    const at = (base: string, token: string | undefined) => connectSecondSdk(`${base}/${end}`, { era, token })

    it("finds a business in the directory, takes a token for its server, and reads its menu", async () => {
      const platform = await at(doors.platform, doors.tokens.session)
      expect(platform.getNegotiatedProtocolVersion()).toBe(revision)
      const { data: [listing] } = await callSecondSdk<Found>(platform, "directory_search", { search: "coper ladel" })
      const { accessToken } = await callSecondSdk<Token>(platform, "create_server_token", {
        resource: listing?.mcpServerUrl
      })
      await platform.close()
      const business = await at(doors.hosted["path form"], accessToken)
      expect((await business.listTools()).tools.map(({ name }) => name)).toContain("get_hours")
      expect(await callSecondSdk(business, "search_catalog", { query: "trout" })).toMatchObject({
        items: [{ name: "Smoked Trout Toast" }]
      })
      await business.close()
    })

    it("signs a person in at a hosted server of which it has the URL alone, and calls a tool", async () => {
      const person = personByHttp(doors.platform, doors.tokens.session)
      const client = await signInSecondSdk(`${doors.hosted["path form"]}/${end}`, era, person.browse)
      expect(person.read).toEqual([expect.stringContaining("Second SDK")])
      expect(await callSecondSdk(client, "search_catalog", { query: "trout" })).toMatchObject({
        items: [{ name: "Smoked Trout Toast" }]
      })
      await client.close()
    })

    it("is refused at both doors without a token, and with one for the other", async () => {
      for (const token of [undefined, doors.tokens.hosted]) {
        await expect(at(doors.platform, token)).rejects.toThrow(/401|Unauthorized|UNAUTHORIZED/)
      }
      for (const token of [undefined, doors.tokens.session]) {
        await expect(at(doors.hosted["path form"], token)).rejects.toThrow(/401|Unauthorized|access token/)
      }
    })
  })

  // The two that differ most; what a deployment does is nothing to the rest.
  it.each([ways[0]!, ways[3]!])(
    "in %s, deploys a ready-made server with its configuration, calls its tool, and takes it down",
    async (_name, era, end) => {
      const { email, password } = {
        email: `second-${end}-${Date.now()}@example.com`,
        password: "correct horse battery"
      }
      const signedUp = await fetch(`${doors.platform}/v1/auth/signup`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ email, password })
      })
      const { data: { token } } = await signedUp.json() as { data: { token: string } }
      const platform = await connectSecondSdk(`${doors.platform}/${end}`, { era, token })
      const project = await callSecondSdk<Named>(platform, "create_project", { name: "Cafe" })
      const server = await callSecondSdk<Named>(platform, "create_server", { projectId: project.id, name: "Cafe menu" })
      const serverId = server.id
      await callSecondSdk(platform, "set_env", { serverId, name: "SVC_READY_CONFIG", value: readyConfig })
      const imageUri = `oci:${program().place.home}/ready-image`
      expect(await callSecondSdk(platform, "deploy", { serverId, imageUri })).toMatchObject({ status: "running" })
      const { accessToken } = await callSecondSdk<Token>(platform, "create_test_token", { serverId })
      const cafe = await connectSecondSdk(`${server.publicUrl}/${end}`, { era, token: accessToken })
      expect(await callSecondSdk(cafe, "search_catalog", { query: "soup" })).toMatchObject({
        items: [{ name: "Fire-Roasted Tomato Soup" }]
      })
      await cafe.close()
      await callSecondSdk(platform, "call_tool", { name: "delete_project", arguments: { projectId: project.id } })
      expect(await callSecondSdk(platform, "list_projects")).toMatchObject({ data: [] })
      await platform.close()
    },
    120_000
  )
}, missing)
