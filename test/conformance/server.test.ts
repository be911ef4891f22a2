import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { findPeers } from "../clients/support/peers.ts"
import { type Account, dataOf, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { describeWhen } from "../support/needs.ts"
import { startDoorkeeper } from "./support/doorkeeper.ts"
import { exceptionsOf } from "./support/exceptions.ts"
import { bundleFixture, type Era, fixtureImage, startFixture } from "./support/fixture.ts"
import { runSuite, type Suite, withStatus } from "./support/suite.ts"

const found = await findPeers()

/** Which fixture a suite is for, and how many checks it passes at least. */
const suites: ReadonlyArray<readonly [suite: Suite, era: Era, passes: number]> = [
  ["0.1.16", "session", 38],
  ["2025-11-25", "session", 80],
  ["2026-07-28", "stateless", 130]
]

describeWhen(typeof found === "string" ? found : undefined, "a fixture of the official conformance suite", () => {
  if (typeof found === "string") return
  const berth = useBerth({ machines: true })
  const stops: Array<() => unknown> = []
  const bare = new Map<Era, string>()
  const hosted = new Map<Era, { readonly server: Server; readonly token: string }>()

  const host = async (account: Account, projectId: string, era: Era) => {
    const bundle = await bundleFixture(era)
    const fixture = await startFixture(bundle)
    stops.push(fixture.stop)
    bare.set(era, fixture.url)
    const server = await account.server(projectId)
    const deployed = await account.post<{ data: { status: string } }>(`/v1/servers/${server.id}/deploy`, {
      imageUri: await fixtureImage(bundle)
    })
    expect(dataOf(deployed)).toMatchObject({ status: "running" })
    const { accessToken } = dataOf(
      await account.post<{ data: { accessToken: string } }>(`/v1/servers/${server.id}/test-token`, {})
    )
    hosted.set(era, { server, token: accessToken })
  }

  beforeAll(async () => {
    const account = await berth.signUp("enterprise")
    const { id } = await account.project()
    await Promise.all((["session", "stateless"] as const).map((era) => host(account, id, era)))
  }, 180_000)
  afterAll(() => Promise.all(stops.map((stop) => stop())))

  const through = async (era: Era, address: (slug: string) => { readonly prefix?: string; readonly host?: string }) => {
    const { server, token } = hosted.get(era)!
    const doorkeeper = await startDoorkeeper({ platform: berth.url, token, ...address(server.slug) })
    stops.push(doorkeeper.stop)
    return doorkeeper.url
  }

  describe.each(suites)("suite %s", (suite, era, passes) => {
    // Some of its checks give a server a second to answer, which a busy machine may take.
    it("gives behind the gateway, in both forms of address, check for check what it gives bare", {
      retry: 1,
      timeout: 240_000
    }, async () => {
      const urls = [
        bare.get(era)!,
        await through(era, (slug) => ({ prefix: `/s/${slug}` })),
        await through(era, (slug) => ({ host: `${slug}.mcp.localhost:${new URL(berth.url).port}` }))
      ]
      const [alone, byPath, byHost] = await Promise.all(urls.map((url) => runSuite(found, suite, url)))
      expect(withStatus(alone!, "FAILURE", "WARNING")).toEqual(exceptionsOf("fixture", suite))
      expect(withStatus(alone!, "SUCCESS").length).toBeGreaterThan(passes)
      expect(Object.fromEntries(byPath!)).toEqual(Object.fromEntries(alone!))
      expect(Object.fromEntries(byHost!)).toEqual(Object.fromEntries(alone!))
    })
  })
})
