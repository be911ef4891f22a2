import { CurrentSettings } from "#src/config/Settings.ts"
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Account } from "../support/account.ts"
import { Berth, useBerth } from "../support/Berth.ts"
import { freshDatabaseUrl } from "../support/Database.ts"
import { itLong } from "../support/needs.ts"
import { settingsTest, temporaryDirectory } from "../support/Settings.ts"
import { FakeOsv, vectors } from "./support/fake-osv.ts"
import { anyMachines, file, imageOf, node, Scanned } from "./support/scanned.ts"

const osv = new FakeOsv()
beforeAll(() => osv.start())
afterAll(() => osv.stop())

describe("SCAN_BLOCK=high", () => {
  const berth = new Berth()
  beforeAll(async () => {
    osv.has(
      "npm",
      "bad",
      "1.0.0",
      {
        id: "GHSA-bad",
        severity: [vectors.high],
        affected: [{
          package: { ecosystem: "npm", name: "bad" },
          ranges: [{ type: "SEMVER", events: [{ fixed: "1.0.9" }] }]
        }]
      },
      { id: "GHSA-worse", severity: [vectors.critical] },
      { id: "GHSA-mild", severity: [vectors.medium] }
    )
    osv.has("npm", "mild", "1.0.0", { id: "GHSA-mild", severity: [vectors.medium] }, { id: "GHSA-unrated" })
    await berth.start({
      machines: anyMachines(),
      variables: { SCANNER: "osv", SCAN_BLOCK: "high", OSV_URL: osv.url }
    })
  })
  afterAll(() => berth.stop())

  it("refuses an image with one, or a worse one, and names counts, the worst and what fixes them", async () => {
    const server = await Scanned.of(await berth.signUp())
    const deployment = await server.deploy(await imageOf([node("a", "bad", "1.0.0")]))
    expect(deployment).toMatchObject({ status: "failed", trivyScanResult: { critical: 1, high: 1, medium: 1 } })
    expect(deployment.errorMessage).toBe(
      "scanning: SCAN_BLOCK=high refuses the image: its vulnerabilities are 1 critical, 1 high, 1 medium; the worst are " +
        "GHSA-worse in bad 1.0.0, GHSA-bad in bad 1.0.0 (fixed in 1.0.9)"
    )
    expect((await server.vulnerabilities(deployment.id)).meta.total).toBe(3)
  })

  it("lets through what is less severe, and what nobody has rated", async () => {
    const server = await Scanned.of(await berth.signUp())
    const deployment = await server.deploy(await imageOf([node("a", "mild", "1.0.0")]))
    expect(deployment).toMatchObject({ status: "running", trivyScanResult: { critical: 0, high: 0, medium: 1 } })
  })

  it("refuses what could not be scanned, with the cause", async () => {
    osv.intercept = (_, response) => (response.writeHead(500).end(), true)
    const server = await Scanned.of(await berth.signUp())
    const deployment = await server.deploy(await imageOf([node("a", "mild", "1.0.0")]))
    osv.intercept = () => false
    expect(deployment).toMatchObject({ status: "failed", trivyScanResult: null })
    expect(deployment.errorMessage).toBe(
      "scanning: SCAN_BLOCK=high refuses what was not scanned: the scan by OSV failed: OSV answered /v1/querybatch with 500"
    )
  })
})

describe("without a scanner", () => {
  const unreachable = { SCANNER: "auto", OSV_URL: "http://127.0.0.1:1", PATH: "/nowhere" }
  const berth = useBerth({ machines: anyMachines(), variables: unreachable })

  it("an image is deployed, and its log says that and why it was not scanned", async () => {
    const server = await Scanned.of(await berth.signUp())
    const deployment = await server.deploy(await imageOf([file("a", "b")]))
    expect(deployment).toMatchObject({ status: "running", trivyScanResult: null })
    const log = await server.log()
    expect(log).toContain(
      "not scanned for vulnerabilities: Trivy is not on PATH, and OSV (http://127.0.0.1:1) does not answer"
    )
    expect(log).not.toContain("scanned by")
    const { body } = await berth.request<{ scanner: unknown }>("GET", "/v1/health")
    expect(body.scanner).toEqual({ driver: "none", refuses: null })
  })
})

describe("settings", () => {
  const refused = (variables: Readonly<Record<string, string>>) =>
    Effect.runPromise(Effect.flip(Effect.provide(CurrentSettings, settingsTest(variables)))).then(({ message }) =>
      message
    )

  it("SCAN_BLOCK without a scanner, and a level nobody knows, are refused at the start", async () => {
    expect(await refused({ SCANNER: "none", SCAN_BLOCK: "high" })).toContain("SCAN_BLOCK=high needs a scanner")
    expect(await refused({ SCANNER: "osv", SCAN_BLOCK: "awful" })).toContain("SCAN_BLOCK must be critical")
    expect(await refused({ SCANNER: "clair" })).toContain("SCANNER must be auto")
  })

  it("SCANNER=trivy without Trivy is refused at the start", async () => {
    const berth = new Berth()
    await expect(berth.start({ variables: { SCANNER: "trivy", PATH: "/nowhere" } })).rejects.toThrow(
      /SCANNER is "trivy"/
    )
    await berth.stop()
  })
})

describe("a platform whose OSV is silent", () => {
  itLong("goes on, after it ended in the middle of a scan, with that scan", async () => {
    const scope = Effect.runSync(Scope.make())
    const databaseUrl = await Effect.runPromise(Scope.extend(freshDatabaseUrl, scope))
    const shared = {
      machines: anyMachines(),
      databaseUrl,
      variables: { SCANNER: "osv", OSV_URL: osv.url, BERTH_HOME: temporaryDirectory() }
    }
    const first = await new Berth().start(shared)
    osv.has("npm", "slow", "1.0.0", { id: "GHSA-slow", severity: [vectors.critical] })
    const reached = new Promise<void>((resolve) => {
      osv.intercept = (path) => {
        if (path.startsWith("/v1/vulns/")) resolve()
        return path.startsWith("/v1/vulns/")
      }
    })
    const owner = await first.signUp()
    const server = await Scanned.of(owner)
    const { id } = await server.deploy(await imageOf([node("a", "slow", "1.0.0")]), false)
    await reached
    expect((await server.get(id)).progress).toBe("Scanning the image for vulnerabilities with OSV")
    await first.stop()
    osv.intercept = () => false
    const second = await new Berth().start(shared)
    const after = new Scanned(new Account(second, owner.token, owner), server.id)
    await expect.poll(async () => (await after.get(id)).status, { timeout: 40_000 }).toBe("running")
    expect((await after.get(id)).trivyScanResult).toEqual({ critical: 1, high: 0, medium: 0 })
    await second.stop()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })

  itLong("waits for it no longer than a moment", async () => {
    osv.intercept = () => true
    const began = Date.now()
    const berth = await new Berth().start({
      machines: anyMachines(),
      variables: { SCANNER: "auto", OSV_URL: osv.url, PATH: "/nowhere" }
    })
    const server = await Scanned.of(await berth.signUp())
    expect((await server.deploy(await imageOf([file("a", "b")]))).trivyScanResult).toBeNull()
    expect(await server.log()).toContain("does not answer")
    expect(Date.now() - began).toBeLessThan(20_000)
    await berth.stop()
    osv.intercept = () => false
  })
})
