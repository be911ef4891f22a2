import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { findPeers } from "../clients/support/peers.ts"
import { type Account, dataOf, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { describeWhen } from "../support/needs.ts"
import { startDoorkeeper } from "./support/doorkeeper.ts"
import { bundleFixture, fixtureImage, startFixture } from "./support/fixture.ts"
import { type Outcomes, runSuite, withStatus } from "./support/suite.ts"

const found = await findPeers()

/** Scenarios of the suite that need nothing of the fixture. */
const general = [
  "server-initialize",
  "ping",
  "tools-list",
  "resources-list",
  "prompts-list",
  "dns-rebinding-protection",
  "server-session-lifecycle",
  "server-sse-multiple-streams"
]

describeWhen(typeof found === "string" ? found : undefined, "the official conformance suite, MCP 2025-11-25", () => {
  if (typeof found === "string") return
  const berth = useBerth({ machines: true })
  const stops: Array<() => unknown> = []
  let account: Account
  let server: Server
  let token: string
  let bare: Outcomes

  beforeAll(async () => {
    const bundle = await bundleFixture()
    const fixture = await startFixture(bundle)
    stops.push(fixture.stop)
    bare = await runSuite(found, fixture.url)
    account = await berth.signUp("enterprise")
    server = await account.server((await account.project()).id)
    const deployed = await account.post<{ data: { status: string; errorMessage?: string } }>(
      `/v1/servers/${server.id}/deploy`,
      { imageUri: await fixtureImage(bundle) }
    )
    expect(dataOf(deployed)).toMatchObject({ status: "running" })
    token = dataOf(
      await account.post<{ data: { accessToken: string } }>(`/v1/servers/${server.id}/test-token`, {})
    ).accessToken
  }, 180_000)
  afterAll(() => Promise.all(stops.map((stop) => stop())))

  const through = async (door: { readonly token: string; readonly prefix?: string; readonly host?: string }) => {
    const doorkeeper = await startDoorkeeper({ platform: berth.url, ...door })
    stops.push(doorkeeper.stop)
    return runSuite(found, doorkeeper.url)
  }

  it("is passed by the fixture as it is, without exception", () => {
    expect(withStatus(bare, "FAILURE", "WARNING")).toEqual([])
    expect(withStatus(bare, "SUCCESS").length).toBeGreaterThan(70)
  })

  describe.each(
    [
      ["path", () => ({ prefix: `/s/${server.slug}` })],
      ["host", () => ({ host: `${server.slug}.mcp.localhost:${new URL(berth.url).port}` })]
    ] as const
  )("behind the gateway, %s form", (_form, address) => {
    it("is passed in every check that is passed bare", async () => {
      const hosted = await through({ token, ...address() })
      expect(withStatus(hosted, "FAILURE", "WARNING")).toEqual([])
      expect(withStatus(hosted, "SUCCESS")).toEqual(withStatus(bare, "SUCCESS"))
    }, 120_000)
  })

  it(
    "is passed by the platform's own /mcp where no fixture is needed, and each of its messages fits the schema",
    async () => {
      const own = await through({ token: account.token })
      const scenario = (check: string) => check.split(":")[0] ?? ""
      expect(withStatus(own, "FAILURE").filter((check) => general.includes(scenario(check)))).toEqual([])
      const passed = new Set(withStatus(own, "SUCCESS").map(scenario))
      for (const name of ["server-initialize", "ping", "tools-list", "resources-list", "prompts-list"]) {
        expect(passed).toContain(name)
      }
      expect(withStatus(own, "FAILURE").filter((check) => check.endsWith(":wire-schema-valid"))).toEqual([])
      expect(withStatus(own, "SUCCESS").filter((check) => check.endsWith(":wire-schema-valid")).length)
        .toBeGreaterThan(20)
    },
    120_000
  )
})
