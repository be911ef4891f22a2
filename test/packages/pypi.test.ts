import { consoleScripts } from "#src/packages/python-programs.ts"
import { afterAll, beforeAll, expect, it } from "vitest"
import { stdioShimBundle } from "../ready-server/bundle.ts"
import { type Account, dataOf, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { callTool, connectMcp } from "../support/mcp.ts"
import { describeLong } from "../support/needs.ts"
import { missingPython, pythonServer, startPythonIndex } from "./support/python-index.ts"

interface Deployment {
  readonly status: string
  readonly errorMessage?: string
  readonly imageDigest: string | null
  readonly package: { readonly lockDigest: string } | null
}

const missing = process.platform === "linux" ? missingPython() : "machines run on Linux only"

describeLong("a package of PyPI", () => {
  const indexes: Array<Awaited<ReturnType<typeof startPythonIndex>>> = []
  const variables: Record<string, string> = {}
  beforeAll(async () => {
    await stdioShimBundle()
    const index = await startPythonIndex()
    indexes.push(index)
    Object.assign(variables, { PYPI_INDEX: index.index, ALLOWED_PRIVATE_HOSTS: index.host })
    index.publish("greeting-words", "1.0.0", { "greeting_words.py": "WORD = 'hello'" })
    index.publish("greeting-words", "1.5.0", { "greeting_words.py": "WORD = 'good day'" })
    index.publish("py-server", "1.0.0", { "py_server/__init__.py": "", "py_server/app.py": pythonServer }, {
      requires: ["greeting-words>=1", "nowhere; extra == 'more'"],
      scripts: "py-server = py_server.app:app.run\nother = py_server.app:main"
    })
    index.publish("moves", "1.0.0", { "moves.py": "WORD = 'still'" })
    index.publish("mover", "1.0.0", { "mover.py": pythonServer.replace("greeting_words", "moves") }, {
      requires: ["moves>=1"],
      scripts: "mover = mover:main"
    })
    index.publish("library-only", "1.0.0", { "library_only.py": "" })
    index.publish("by-url", "1.0.0", { "by_url.py": "" }, {
      requires: ["inner @ http://169.254.169.254/inner-1.0-py3-none-any.whl"],
      scripts: "by-url = by_url:main"
    })
  })
  afterAll(async () => {
    for (const { close } of indexes) await close()
  })
  const berth = useBerth({ machines: true, variables })
  let owner: Account
  let server: Server

  beforeAll(async () => {
    owner = await berth.signUp("enterprise")
    server = await owner.server((await owner.project()).id, { healthTimeoutSeconds: 60 })
  })

  const deploy = async (body: Readonly<Record<string, unknown>>) =>
    dataOf(await owner.post<{ data: Deployment }>(`/v1/servers/${server.id}/deploy`, body))

  it("is live in one call, resolved with its dependencies, with its program and arguments", async () => {
    const deployed = await deploy({ imageUri: "pypi:Py_Server==1.0.0", args: ["--a", "b c"] })
    expect(deployed).toMatchObject({
      status: "running",
      package: {
        registry: "pypi",
        name: "py-server",
        version: "1.0.0",
        main: "py-server",
        programs: ["py-server", "other"]
      },
      mcp: { ok: true, tools: [{ name: "who" }] }
    })
    const { accessToken } = dataOf(
      await owner.request<{ data: { accessToken: string } }>("POST", `/v1/servers/${server.id}/test-token`)
    )
    const client = await connectMcp(`${berth.url}/s/${server.slug}`, { token: accessToken })
    const { content: [first] } = await callTool(client, "who")
    await client.close()
    const told = JSON.parse(first?.type === "text" ? first.text : "{}")
    expect(told).toMatchObject({ word: "good day", argv: ["py-server", "--a", "b c"] })
    expect(told.path).toContain("/app/site")
  }, 300_000)

  it("keeps the lock of a version that served, until it is asked for a new one", async () => {
    const first = await deploy({ imageUri: "pypi:mover" })
    expect(first).toMatchObject({ status: "running", package: { version: "1.0.0" } })
    indexes[0]!.publish("moves", "2.0.0", { "moves.py": "raise Exception('moves 2 broke it')" })
    for (const imageUri of ["pypi:mover", "pypi:mover==1.0.0"]) {
      expect(await deploy({ imageUri }), imageUri).toMatchObject({
        status: "running",
        imageDigest: first.imageDigest,
        package: { lockDigest: first.package!.lockDigest }
      })
    }
    const anew = await deploy({ imageUri: "pypi:mover", freshDependencies: true })
    expect(anew).toMatchObject({ status: "failed", errorMessage: expect.stringContaining("moves 2 broke it") })
  }, 120_000)

  it("fails with a sentence that says why", async () => {
    const failures = {
      "pypi:nowhere": /pip failed: .*No matching distribution found for nowhere/,
      "pypi:py-server>=2": /No matching distribution found for py-server>=2/,
      "pypi:library-only": /has no program \(console_scripts\)/,
      "pypi:by-url": /169\.254\.169\.254 is not the registry/,
      "pypi:py-server[more]": /No matching distribution found for nowhere/
    }
    for (const [imageUri, message] of Object.entries(failures)) {
      const failed = await deploy({ imageUri })
      expect(failed.status, imageUri).toBe("failed")
      expect(failed.errorMessage, imageUri).toMatch(message)
    }
  }, 120_000)
}, missing)

it("entry points are read from their section alone, and only whole ones", () => {
  const text =
    "[gui_scripts]\na = b:c\n[console_scripts]\nrun = pkg.mod:main [extra]\nbad = \"; rm:x\n../x = a:b\nn=m:a.b\n[z]\ny = x:w\n"
  expect(consoleScripts(text)).toEqual([["run", "pkg.mod", "main"], ["n", "m", "a.b"]])
  expect(consoleScripts("")).toEqual([])
})
