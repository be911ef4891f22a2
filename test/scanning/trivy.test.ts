import { describe, expect, it } from "vitest"
import { Berth, useBerth } from "../support/Berth.ts"
import { itLong, sampled } from "../support/needs.ts"
import { FakeTrivy, report } from "./support/fake-trivy.ts"
import { anyMachines, file, imageOf, Scanned } from "./support/scanned.ts"

const openssl = {
  VulnerabilityID: "CVE-2026-1111",
  VendorIDs: ["DSA-1-1"],
  PkgID: "openssl@3.0.11-1",
  PkgName: "openssl",
  InstalledVersion: "3.0.11-1",
  FixedVersion: "3.0.12-1",
  Status: "fixed",
  SeveritySource: "debian",
  PrimaryURL: "https://avd.aquasec.com/nvd/cve-2026-1111",
  Title: "openssl: it breaks",
  Severity: "CRITICAL"
}
const zlib = { VulnerabilityID: "CVE-2026-2222", PkgName: "zlib1g", InstalledVersion: "1.3", Severity: "UNKNOWN" }
const image = () => imageOf([file("a", "b")])

describe("Trivy on PATH", () => {
  const trivy = new FakeTrivy()
  const berth = useBerth({
    machines: anyMachines(),
    variables: { SCANNER: "auto", OSV_URL: "http://127.0.0.1:1", PATH: trivy.path, TRIVY_SERVER: "http://trivy:1" }
  })
  const aServer = async () => Scanned.of(await berth.signUp("enterprise"))

  it("is given the image as an OCI layout, with nothing of the platform's environment, and its report is kept", async () => {
    trivy.prints(report([zlib, openssl, openssl]))
    const server = await aServer()
    const deployment = await server.deploy(await image())
    expect(deployment).toMatchObject({ status: "running", trivyScanResult: { critical: 1, high: 0, medium: 0 } })
    expect((await server.vulnerabilities(deployment.id)).data).toEqual([
      {
        id: "CVE-2026-1111",
        aliases: ["DSA-1-1"],
        package: "openssl",
        version: "3.0.11-1",
        fixedVersion: "3.0.12-1",
        severity: "critical",
        title: "openssl: it breaks",
        url: "https://avd.aquasec.com/nvd/cve-2026-1111"
      },
      {
        id: "CVE-2026-2222",
        aliases: [],
        package: "zlib1g",
        version: "1.3",
        fixedVersion: null,
        severity: "unknown",
        title: "CVE-2026-2222",
        url: null
      }
    ])
    expect(trivy.notes).toContain("image --input image --format json --scanners vuln")
    expect(trivy.notes).toContain("\"manifests\":[{\"mediaType\":\"application/vnd.oci.image.manifest.v1+json\"")
    expect(trivy.notes).toContain("TRIVY_SERVER=http://trivy:1")
    expect(trivy.notes).not.toMatch(/^(DATABASE_URL|SECRET_KEY|BASE_URL)=/m)
    expect(await server.log()).toContain("scanned by Trivy; vulnerabilities: 1 critical, 1 unknown")
  })

  it("may find nothing", async () => {
    trivy.prints(JSON.stringify({ SchemaVersion: 2, ArtifactName: "image", ArtifactType: "container_image" }))
    const server = await aServer()
    const deployment = await server.deploy(await image())
    expect(deployment.trivyScanResult).toEqual({ critical: 0, high: 0, medium: 0 })
    expect(await server.log()).toContain("scanned by Trivy; vulnerabilities: none")
  })

  it.each(sampled([
    ["is empty", ""],
    ["is cut off", report([openssl]).slice(0, -5)],
    ["has another version", report([openssl]).replace("\"SchemaVersion\":2", "\"SchemaVersion\":3")],
    ["has a severity nobody knows", report([{ ...openssl, Severity: "TERRIBLE" }])],
    ["has a vulnerability of no package", report([{ VulnerabilityID: "CVE-2026-1", Severity: "LOW" }])]
  ], 2))("whose report %s has scanned nothing", async (_, text) => {
    trivy.prints(text)
    const server = await aServer()
    const deployment = await server.deploy(await image())
    expect(deployment).toMatchObject({ status: "running", trivyScanResult: null })
    expect(await server.log()).toContain("the scan by Trivy failed: Trivy printed no report that can be read")
  })

  it("that fails is told with what it said", async () => {
    trivy.does("echo 'FATAL no database' >&2; exit 1")
    const server = await aServer()
    expect((await server.deploy(await image())).trivyScanResult).toBeNull()
    expect(await server.log()).toContain("the scan by Trivy failed: Trivy failed: FATAL no database")
  })

  it("is named by health, and its text can't be more than a list can show", async () => {
    trivy.prints(report([{ ...openssl, Title: "\u0000x".repeat(5_000), PrimaryURL: "javascript:alert(1)" }]))
    const server = await aServer()
    const { id } = await server.deploy(await image())
    const [found] = (await server.vulnerabilities(id)).data
    expect([found?.title.length, found?.url]).toEqual([300, null])
    const { body } = await berth.request<{ scanner: unknown }>("GET", "/v1/health")
    expect(body.scanner).toEqual({ driver: "trivy", refuses: null })
  })
})

describe("SCAN_SECONDS", () => {
  const trivy = new FakeTrivy()
  const variables = { SCANNER: "trivy", SCAN_SECONDS: "3", SCAN_BLOCK: "critical", PATH: trivy.path }

  itLong("ends a scan that takes longer, with all that it started", async () => {
    const left = `${trivy.folder}/left`
    trivy.does(`(sleep 6; touch ${left}) & sleep 60`)
    const berth = await new Berth().start({ machines: anyMachines(), variables })
    const server = await Scanned.of(await berth.signUp())
    const deployment = await server.deploy(await image())
    expect(deployment.status).toBe("failed")
    expect(deployment.errorMessage).toContain("it took longer than the 3 seconds of SCAN_SECONDS")
    trivy.does(`test -e ${left} && echo left >&2; exit 1`)
    await new Promise((resolve) => setTimeout(resolve, 4_000))
    const again = await (await Scanned.of(server.owner)).deploy(await image())
    expect(again.errorMessage).not.toContain("left")
    await berth.stop()
  })
})
