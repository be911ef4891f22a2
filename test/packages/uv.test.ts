import { readCompiled, uvComplaint } from "#src/packages/uv.ts"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { stdioShimBundle } from "../ready-server/bundle.ts"
import { type Account, dataOf, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { callTool, connectMcp } from "../support/mcp.ts"
import { describeLong } from "../support/needs.ts"
import { makeFakeUv } from "./support/fake-uv.ts"
import { missingPython, pythonServer, startPythonIndex } from "./support/python-index.ts"

interface Deployment {
  readonly status: string
  readonly errorMessage?: string
}

const missing = process.platform === "linux" ? missingPython() : "machines run on Linux only"

describeLong("a package of PyPI on a host that has uv and no pip", () => {
  const path = process.env["PATH"] ?? ""
  const stops: Array<() => Promise<void>> = []
  const variables: Record<string, string> = {}
  let fake: ReturnType<typeof makeFakeUv>
  beforeAll(async () => {
    await stdioShimBundle()
    const index = await startPythonIndex()
    stops.push(index.close)
    Object.assign(variables, { PYPI_INDEX: index.index, ALLOWED_PRIVATE_HOSTS: index.host })
    index.publish("greeting-words", "1.5.0", { "greeting_words.py": "WORD = 'good day'" })
    index.publish("py-server", "1.0.0", { "py_server/__init__.py": "", "py_server/app.py": pythonServer }, {
      requires: ["greeting-words>=1"],
      scripts: "py-server = py_server.app:app.run"
    })
    fake = makeFakeUv()
    process.env["PATH"] = `${fake.python}:${fake.uv}:${path}`
  })
  afterAll(async () => {
    process.env["PATH"] = path
    for (const stop of stops) await stop()
  })
  const berth = useBerth({ machines: true, variables })
  let owner: Account
  let server: Server

  beforeAll(async () => {
    owner = await berth.signUp("enterprise")
    server = await owner.server((await owner.project()).id, { healthTimeoutSeconds: 60 })
  })

  const deploy = async (imageUri: string) =>
    dataOf(await owner.post<{ data: Deployment }>(`/v1/servers/${server.id}/deploy`, { imageUri }))

  it("is live in one call, and is told as with pip", async () => {
    expect(await deploy("pypi:Py_Server==1.0.0")).toMatchObject({
      status: "running",
      package: { registry: "pypi", name: "py-server", version: "1.0.0", main: "py-server", programs: ["py-server"] },
      mcp: { ok: true, tools: [{ name: "who" }] }
    })
    const { accessToken } = dataOf(
      await owner.request<{ data: { accessToken: string } }>("POST", `/v1/servers/${server.id}/test-token`)
    )
    const client = await connectMcp(`${berth.url}/s/${server.slug}`, { token: accessToken })
    const { content: [first] } = await callTool(client, "who")
    await client.close()
    expect(JSON.parse(first?.type === "text" ? first.text : "{}")).toMatchObject({ word: "good day" })
  }, 300_000)

  it("uv resolves with hashes, installs by hash, takes wheels alone, and knows the index and the proxy alone", () => {
    const [compile, install] = fake.runs()
    for (const run of [compile, install]) {
      expect(run?.args).toEqual(expect.arrayContaining([
        "--no-config",
        "--no-python-downloads",
        "--only-binary=:all:",
        `--default-index=${variables["PYPI_INDEX"]}`
      ]))
      const { HOME, HTTPS_PROXY, HTTP_PROXY, TMPDIR, ...others } = run?.env ?? {}
      expect(HTTP_PROXY).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
      expect(HTTPS_PROXY).toBe(HTTP_PROXY)
      expect(HOME).toBe(TMPDIR)
      expect(Object.keys(others).filter((name) => /BERTH|DATABASE|SECRET|UV_|PIP_/.test(name))).toEqual([])
    }
    expect(compile?.args.slice(0, 2)).toEqual(["pip", "compile"])
    expect(compile?.args).toContain("--generate-hashes")
    expect(install?.args.slice(0, 2)).toEqual(["pip", "install"])
    expect(install?.args).toEqual(expect.arrayContaining(["--no-deps", "--require-hashes"]))
  })

  it("fails with uv's reason in one sentence", async () => {
    expect(await deploy("pypi:nowhere")).toMatchObject({
      status: "failed",
      errorMessage: expect.stringMatching(
        /uv failed: No solution found when resolving dependencies: Because nowhere was not found in the package registry, we can conclude that your requirements are unsatisfiable\.$/
      )
    })
  }, 60_000)

  it("on a host with neither it says which to install", async () => {
    process.env["PATH"] = fake.python
    try {
      expect(await deploy("pypi:py-server")).toMatchObject({
        status: "failed",
        errorMessage: expect.stringMatching(
          /packages of PyPI need pip or uv beside python3 on the host: its operator installs python3, and pip \(python3-pip\) or uv/
        )
      })
    } finally {
      process.env["PATH"] = path
    }
  }, 60_000)
}, missing)

describe("what uv writes", () => {
  const [a, b] = ["a".repeat(64), "b".repeat(64)]

  it("is read with all hashes of a version, and what is no version of the index has none", () => {
    const text =
      `# made by uv\none==1.0 \\\n    --hash=sha256:${a} \\\n    --hash=sha256:${b}\ntwo==2.0.post1\nthree @ http://169.254.169.254/x.whl \\\n    --hash=sha256:${a}\n-e ./four\n`
    expect(readCompiled(text)).toEqual([
      { name: "one", version: "1.0", hashes: [a, b] },
      { name: "two", version: "2.0.post1", hashes: [] },
      { name: expect.stringMatching(/^three @ http/), version: "", hashes: [] },
      { name: "-e ./four", version: "", hashes: [] }
    ])
  })

  it("as its complaint is one line, without its frame and its progress", () => {
    expect(uvComplaint("uv failed: Using CPython 3.11.7\nResolved 2 packages in 3ms\nerror: Hash mismatch for `one`\n"))
      .toBe("Hash mismatch for `one`")
    expect(uvComplaint("Using CPython 3.11.7\n")).toBe("")
  })
})
