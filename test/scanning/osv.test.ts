import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { Berth } from "../support/Berth.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"
import { FakeOsv, vectors } from "./support/fake-osv.ts"
import { anyMachines, file, imageOf, node, Scanned } from "./support/scanned.ts"

const osv = new FakeOsv()
const berth = new Berth()
let server: Scanned

beforeAll(async () => {
  await osv.start()
  await berth.start({ machines: anyMachines(), variables: { SCANNER: "osv", OSV_URL: osv.url } })
  server = await Scanned.of(await berth.signUp("enterprise"))
})
afterAll(async () => {
  await berth.stop()
  await osv.stop()
  expect(berth.unexpected).toEqual([])
})
beforeEach(() => {
  osv.asked = []
  osv.pageSize = Infinity
  osv.intercept = () => false
})

const asked = () =>
  osv.asked.map(({ package: { ecosystem, name }, version }) => `${ecosystem} ${name} ${version}`).sort()

const debian = file("usr/lib/os-release", "ID=debian\nVERSION_ID=\"12\"\n")

describe("what OSV is asked", () => {
  it("is Debian's source packages that are installed, by their release", async () => {
    await server.deploy(
      await imageOf([
        debian,
        file(
          "var/lib/dpkg/status",
          [
            "Package: libssl3\nStatus: install ok installed\nSource: openssl (3.0.11-1)\nVersion: 3.0.11-1+b1\n" +
            "Description: a library\n continued: here\n",
            "Package: gone\nStatus: deinstall ok config-files\nVersion: 1\n",
            "Package: bash\nStatus: install ok installed\nVersion: 5.2.15-2\n"
          ].join("\n")
        ),
        file("var/lib/dpkg/status.d/tzdata", "Package: tzdata\nVersion: 2024a\n"),
        file("var/lib/dpkg/status.d/tzdata.md5sums", "Package: no\nVersion: 1\n")
      ])
    )
    expect(asked()).toEqual(["Debian:12 bash 5.2.15-2", "Debian:12 openssl 3.0.11-1", "Debian:12 tzdata 2024a"])
  })

  it("is apk's origins, npm's packages, and PyPI's normalized", async () => {
    await server.deploy(
      await imageOf([
        file("etc/os-release", "ID=alpine\nVERSION_ID=3.20.3\n"),
        file("lib/apk/db/installed", "P:libcrypto3\nV:3.3.2-r0\no:openssl\n\nP:musl\nV:1.2.5-r0\n"),
        node("app", "express", "4.18.0"),
        node("app/node_modules/express", "@scope/qs", "6.0.0"),
        file("app/package.json", "{\"name\":\"app\",\"version\":\"1.0.0\"}"),
        file(
          "usr/lib/python3.12/site-packages/Ruamel_Yaml-1.0.dist-info/METADATA",
          "Name: Ruamel.Yaml\nVersion: 1.0\n\nName: x\n"
        )
      ])
    )
    expect(asked()).toEqual([
      "Alpine:v3.20 musl 1.2.5-r0",
      "Alpine:v3.20 openssl 3.3.2-r0",
      "PyPI ruamel-yaml 1.0",
      "npm @scope/qs 6.0.0",
      "npm express 4.18.0"
    ])
  })

  it("is what the image's files are in the end: whiteouts, opaque folders and links in place of folders count", async () => {
    await server.deploy(
      await imageOf(
        [
          node("a", "removed", "1.0.0"),
          node("b", "hidden", "1.0.0"),
          node("c", "replaced", "1.0.0"),
          node("d", "old", "1.0.0")
        ],
        [
          file("a/node_modules/.wh.removed", ""),
          node("b", "kept", "2.0.0"),
          file("b/node_modules/.wh..wh..opq", ""),
          { type: "symlink", path: "c/node_modules", target: "/elsewhere" },
          node("d", "old", "1.0.1")
        ]
      )
    )
    expect(asked()).toEqual(["npm kept 2.0.0", "npm old 1.0.1"])
  })

  it("leaves out hostile and oversized files, and says which", async () => {
    const { status } = await server.deploy(
      await imageOf([
        node("ok", "fine", "1.0.0"),
        file("a/node_modules/broken/package.json", "{\"name\": "),
        file("a/node_modules/list/package.json", "[[1]]"),
        file("a/node_modules/nothing/package.json", "null"),
        file("a/node_modules/odd/package.json", JSON.stringify({ name: "../../etc", version: "1" })),
        file("a/node_modules/spaced/package.json", JSON.stringify({ name: "a b\n", version: { a: 1 } })),
        file("a/node_modules/proto/package.json", "{\"__proto__\":{\"name\":\"x\",\"version\":\"1\"}}"),
        file("a/node_modules/deep/package.json", "[".repeat(200_000)),
        file("big/node_modules/huge/package.json", `{"name":"huge","version":"1","x":"${"x".repeat(5 * 1024 ** 2)}"}`),
        file("p/site-packages/b.dist-info/METADATA", `Name:${" ".repeat(100_000)}b c\nVersion: 1\n\n`)
      ])
    )
    expect(status).toBe("running")
    expect(asked()).toEqual(["npm fine 1.0.0"])
    const log = await server.log()
    expect(log).toContain("in the scan, files of packages that are too large or can't be read are left out")
    expect(log).toContain("big/node_modules/huge/package.json")
    expect(log).toContain("in the scan, 1 packages were looked up")
  })

  it("says which system's packages it does not know", async () => {
    await server.deploy(
      await imageOf([
        file("etc/os-release", "ID=devuan\nVERSION_ID=5\n"),
        file("var/lib/dpkg/status", "Package: a\nVersion: 1\n"),
        file("var/lib/rpm/rpmdb.sqlite", "x")
      ])
    )
    expect(asked()).toEqual([])
    const log = await server.log()
    expect(log).toContain("the packages of devuan 5 are not looked up")
    expect(log).toContain("packages of RPM are not looked up")
  })
})

const made = async () => {
  osv.has(
    "npm",
    "left",
    "1.0.0",
    {
      id: "GHSA-aaaa-bbbb-cccc",
      aliases: ["CVE-2026-0001"],
      summary: "Left breaks",
      severity: [vectors.critical],
      affected: [{
        package: { ecosystem: "npm", name: "left" },
        ranges: [{ type: "SEMVER", events: [{ introduced: "0" }, { fixed: "1.0.1" }] }, {
          type: "GIT",
          events: [{ fixed: "abc" }]
        }]
      }]
    },
    { id: "CVE-2026-0001", severity: [vectors.medium] },
    { id: "GHSA-high-high-high", severity: [vectors.high] },
    { id: "GHSA-med", severity: [vectors.medium] },
    { id: "GHSA-low", severity: [vectors.low] },
    { id: "GHSA-old", severity: [vectors.old] },
    { id: "GHSA-word", database_specific: { severity: "MODERATE" } },
    { id: "GHSA-half", severity: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:N" }] },
    { id: "GHSA-gone", withdrawn: "2026-01-01T00:00:00Z", severity: [vectors.critical] },
    { id: "DSA-1", upstream: ["CVE-2026-0009"] },
    { id: "DSA-2", upstream: ["CVE-2026-0404"] }
  )
  osv.knows({ id: "CVE-2026-0009", severity: [vectors.low] })
  return imageOf([node("a", "left", "1.0.0"), node("b", "left", "1.0.0")])
}

describe("what is found", () => {
  it("is counted by severity and listed the worst first, each vulnerability once, over HTTP and as a tool", async () => {
    osv.pageSize = 3
    const deployment = await server.deploy(await made())
    expect(deployment).toMatchObject({ status: "running", trivyScanResult: { critical: 1, high: 2, medium: 2 } })
    expect(Object.keys(deployment.trivyScanResult ?? {}).sort()).toEqual(["critical", "high", "medium"])
    const { data, meta } = await server.vulnerabilities(deployment.id)
    expect(meta).toEqual({ cursor: null, hasMore: false, total: 9, scanned: true })
    expect(data[0]).toEqual({
      id: "GHSA-aaaa-bbbb-cccc",
      aliases: ["CVE-2026-0001"],
      package: "left",
      version: "1.0.0",
      fixedVersion: "1.0.1",
      severity: "critical",
      title: "Left breaks",
      url: "https://osv.dev/vulnerability/GHSA-aaaa-bbbb-cccc"
    })
    expect(data.map(({ id, severity }) => `${severity} ${id}`)).toEqual([
      "critical GHSA-aaaa-bbbb-cccc",
      "high GHSA-high-high-high",
      "high GHSA-old",
      "medium GHSA-med",
      "medium GHSA-word",
      "low DSA-1",
      "low GHSA-low",
      "unknown DSA-2",
      "unknown GHSA-half"
    ])
    const client = await connectMcp(berth.url, { token: server.owner.token, query: "?toolsets=all" })
    const named = { serverId: server.id, deploymentId: deployment.id }
    const told = textOf(await callTool(client, "list_vulnerabilities", { ...named, severity: "high", limit: 1 }))
    expect(told).toEqual(await server.vulnerabilities(deployment.id, "?severity=high&limit=1"))
    await client.close()
    expect(await server.log()).toContain(
      "scanned by OSV; vulnerabilities: 1 critical, 2 high, 2 medium, 2 low, 2 unknown"
    )
  })

  it("is paged by cursors of its own list alone; of a severity; for its owner", async () => {
    const { id } = await server.deploy(await made())
    const seen: Array<string> = []
    for (let cursor: string | null = ""; cursor !== null;) {
      const page = await server.vulnerabilities(id, `?limit=4${cursor === "" ? "" : `&cursor=${cursor}`}`)
      seen.push(...page.data.map((found) => found.id))
      cursor = page.meta.cursor
    }
    expect([seen.length, new Set(seen).size]).toEqual([9, 9])
    const { cursor } = (await server.vulnerabilities(id, "?limit=1")).meta
    expect((await server.list(id, `?cursor=${cursor}&severity=high`)).status).toBe(400)
    expect((await server.list(id, "?cursor=bad")).status).toBe(400)
    expect((await server.list(id, "?severity=worst")).status).toBe(400)
    expect((await server.list("dep_01J00000000000000000000000")).status).toBe(404)
    const other = await Scanned.of(await berth.signUp())
    expect((await other.owner.get(`/v1/servers/${server.id}/deployments/${id}/vulnerabilities`)).status).toBe(404)
    expect((await server.owner.get(`/v1/servers/${other.id}/deployments/${id}/vulnerabilities`)).status).toBe(404)
  })

  it("holds for a day: the same image is not looked up again, and a rollback has what its version had", async () => {
    const image = await made()
    const first = await server.deploy(image)
    osv.asked = []
    const [second, third] = await Promise.all([server.deploy(image), (await Scanned.of(server.owner)).deploy(image)])
    expect(second.trivyScanResult).toEqual(first.trivyScanResult)
    expect(third.trivyScanResult).toEqual(first.trivyScanResult)
    expect(await server.log()).toMatch(/scanned by OSV at 2\S+Z, not again; vulnerabilities: 1 critical/)
    const back = await server.rollback(first.version)
    expect(back.trivyScanResult).toEqual(first.trivyScanResult)
    expect((await server.vulnerabilities(back.id)).meta.total).toBe(9)
    expect(await server.log()).toContain("not scanned again")
    expect(osv.asked).toEqual([])
  })

  it("is asked for once when an image is deployed twice at the same time", async () => {
    const image = await imageOf([node("a", "twice", "1.0.0")])
    const servers = await Promise.all([1, 2].map(() => Scanned.of(server.owner)))
    const ended = await Promise.all(servers.map((one) => one.deploy(image)))
    expect(ended.map(({ trivyScanResult }) => trivyScanResult)).toEqual([
      { critical: 0, high: 0, medium: 0 },
      { critical: 0, high: 0, medium: 0 }
    ])
    expect(asked()).toEqual(["npm twice 1.0.0"])
  })
})

describe("a scan that fails", () => {
  it.each([
    ["OSV answered /v1/querybatch with 503", (path: string) => path === "/v1/querybatch" ? 503 : undefined],
    ["OSV answered /v1/vulns/GHSA-once with 404", (path: string) => path.startsWith("/v1/vulns/") ? 404 : undefined]
  ])("is told, and the deployment goes on without counts: %s", async (cause, statusOf) => {
    osv.has("npm", "once", "1.0.0", { id: "GHSA-once" })
    osv.intercept = (path, response) => {
      const status = statusOf(path)
      if (status !== undefined) response.writeHead(status).end("{}")
      return status !== undefined
    }
    const deployment = await server.deploy(await imageOf([node("a", "once", "1.0.0")]))
    expect(deployment).toMatchObject({ status: "running", trivyScanResult: null })
    expect(await server.log()).toContain(`not scanned for vulnerabilities: the scan by OSV failed: ${cause}`)
    expect((await server.vulnerabilities(deployment.id)).meta.total).toBe(0)
  })

  it.each(["{", "{\"results\":[]}", "{\"results\":[{\"vulns\":[{\"id\":\"../../x\"}]}]}"])(
    "is one whose answer can't be read: %s",
    async (body) => {
      osv.intercept = (_, response) => (response.writeHead(200).end(body), true)
      const deployment = await server.deploy(await imageOf([node("a", "odd", "1.0.0")]))
      expect(deployment).toMatchObject({ status: "running", trivyScanResult: null })
    }
  )
})

it("health names the scanner", async () => {
  const { body } = await berth.request<{ scanner: unknown }>("GET", "/v1/health")
  expect(body.scanner).toEqual({ driver: "osv", refuses: null })
})
