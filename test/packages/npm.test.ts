import { bundledProgram } from "#src/shared/bundled-program.ts"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { stdioShimBundle } from "../ready-server/bundle.ts"
import { type Account, dataOf, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { callTool, connectMcp } from "../support/mcp.ts"
import { describeWhen, itLong, sampled } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { type NpmRegistry, startNpmRegistry } from "./support/npm-registry.ts"
import { httpServer, stdioServer } from "./support/stdio-server.ts"

interface Deployment {
  readonly id: string
  readonly status: string
  readonly version: number
  readonly imageDigest: string | null
  readonly errorMessage?: string
  readonly package: { readonly name: string; readonly version: string; readonly lockDigest: string } | null
  readonly mcp: { readonly ok: boolean; readonly tools: ReadonlyArray<{ readonly name: string }> } | null
}

const missing = process.platform === "linux" ? undefined : "machines run on Linux only"

describeWhen(missing, "a package of npm", () => {
  const home = temporaryDirectory("packages")
  const registries: Array<NpmRegistry> = []
  // Its address must be known before the platform starts.
  const variables: Record<string, string> = { BERTH_HOME: home }
  beforeAll(async () => {
    await stdioShimBundle()
    const registry = await startNpmRegistry()
    registries.push(registry)
    Object.assign(variables, { NPM_REGISTRY: registry.url, ALLOWED_PRIVATE_HOSTS: registry.host })
    await registry.publish("greeting", "1.0.0", { "index.js": "module.exports = 'hello'" })
    await registry.publish("greeting", "1.1.0", { "index.js": "module.exports = 'good day'" }, {
      scripts: { postinstall: "touch /tmp/berth-was-here" },
      hasInstallScript: true
    })
    await registry.publish("@tools/stdio", "1.0.0", { "server.js": stdioServer("require('greeting')") }, {
      bin: { "stdio-tools": "server.js" },
      dependencies: { greeting: "^1.0.0" }
    })
    await registry.publish("@tools/stdio", "2.0.0", { "server.js": stdioServer() }, { bin: "server.js" })
    await registry.publish("two-programs", "1.0.0", { "a.js": stdioServer("'a'"), "b.js": httpServer }, {
      bin: { first: "a.js", second: "./b.js", escaped: "../../../../../../etc/passwd", "../x": "a.js" }
    })
    await registry.publish("no-program", "1.0.0", { "index.js": "" })
    // As others publish them: no extension, no first line, a need that nobody has, and a Node that is not here.
    await registry.publish("as-it-is", "1.0.0", { program: stdioServer("'old'").replace(/^#!.*/, "") }, {
      bin: "program",
      optionalDependencies: { "never-published": "^1.0.0" },
      engines: { node: ">=18" }
    })
    await registry.publish("as-it-is", "2.0.0", { program: stdioServer("'new'") }, {
      bin: "program",
      engines: { node: ">=999" }
    })
    await registry.publish("moves", "1.0.0", { "index.js": "module.exports = 'still'" })
    await registry.publish("mover", "1.0.0", { "a.js": `${stdioServer("require('moves')")}require('moves')\n` }, {
      bin: "a.js",
      dependencies: { moves: "*" }
    })
    await registry.publish("asks-outside", "1.0.0", {
      "a.js": "require('dns').lookup('api.example.org', () => require('https').get('https://db.example.org')" +
        ".on('error', () => { console.error('no settings'); process.exit(3) }))"
    }, { bin: "a.js" })
    await registry.publish("slow", "1.0.0", {
      "a.js": `console.error("a process begins")\nsetTimeout(() => {${stdioServer().replace(/^#!.*/, "")}}, 7000)`
    }, { bin: "a.js" })
    const hostile = {
      "by-git": "git+https://github.com/example/x.git",
      "by-url": "http://169.254.169.254/latest/x.tgz",
      "by-folder": "file:../../../../../../../etc",
      "by-file": "file:/etc/hostname.tgz"
    }
    for (const [name, target] of Object.entries(hostile)) {
      await registry.publish(name, "1.0.0", { "a.js": "" }, { bin: "a.js", dependencies: { inner: target } })
    }
    await registry.publish("climber", "1.0.0", { "a.js": stdioServer("require('fs').readdirSync('/app')") }, {
      bin: "a.js"
    }, [
      { name: "package/../../../../../climbed", content: "x" },
      { name: "/climbed", content: "x" },
      { name: "package/link", type: "symlink", linkname: "/etc" },
      { name: "package/.wh.a.js", content: "" }
    ])
  })
  afterAll(async () => {
    for (const registry of registries) await registry.close()
  })
  const berth = useBerth({ machines: true, variables })
  let owner: Account
  let server: Server

  beforeAll(async () => {
    owner = await berth.signUp("enterprise")
    server = await owner.server((await owner.project()).id, { healthTimeoutSeconds: 30 })
  })

  const deploy = async (body: Readonly<Record<string, unknown>>, to = server) =>
    dataOf(await owner.post<{ data: Deployment }>(`/v1/servers/${to.id}/deploy`, body))
  const connect = async () => {
    const { accessToken } = dataOf(
      await owner.request<{ data: { accessToken: string } }>("POST", `/v1/servers/${server.id}/test-token`)
    )
    return connectMcp(`${berth.url}/s/${server.slug}`, { token: accessToken })
  }
  const who = async () => {
    const client = await connect()
    const { content: [first] } = await callTool(client, "who")
    await client.close()
    return JSON.parse(first?.type === "text" ? first.text : "{}") as Record<string, unknown>
  }
  const logged = async () => {
    const { body } = await owner.get<{ data: ReadonlyArray<{ message: string }> }>(
      `/v1/servers/${server.id}/logs?limit=200`
    )
    return JSON.stringify(body)
  }

  it("is live in one call of the tool, with what it was resolved to, and its arguments", async () => {
    const tools = await connectMcp(berth.url, { token: owner.token })
    const told: Array<string | undefined> = []
    const { structuredContent } = await tools.callTool(
      {
        name: "deploy",
        arguments: {
          serverId: server.id,
          imageUri: "npm:@tools/stdio@^1.0.0",
          args: ["--place", "a b", "$(id)"]
        }
      },
      undefined,
      { onprogress: ({ message }) => void told.push(message) }
    )
    await tools.close()
    expect(told).toContainEqual(expect.stringMatching(/^Installing @tools\/stdio 1\./))
    // A stage that takes a moment may go untold; the installation's line does not outlive it.
    expect(told.at(-1)).not.toMatch(/^Installing/)
    const deployed = structuredContent as unknown as Deployment
    expect(deployed).toMatchObject({
      status: "running",
      args: ["--place", "a b", "$(id)"],
      command: null,
      package: {
        registry: "npm",
        name: "@tools/stdio",
        version: "1.0.0",
        programs: ["stdio-tools"],
        main: "stdio-tools"
      },
      mcp: { ok: true, transport: "streamable-http" }
    })
    const said = await who()
    expect(said).toMatchObject({ args: ["--place", "a b", "$(id)"], greeting: "good day", home: "/tmp", calls: 1 })
    expect(said["env"]).not.toContain("DATABASE_URL")
    const log = await logged()
    expect(log).toContain("is version 1.0.0, with 1 other packages")
    expect(log).toContain("install scripts are not run; these packages have some: greeting")
    expect(log).toContain("serving on stdio")
    expect(existsSync("/tmp/berth-was-here")).toBe(false)
  }, 60_000)

  it("gives the same image for the same lock, without installing again, also to another account", async () => {
    const [first] = dataOf(
      await owner.get<{ data: ReadonlyArray<Deployment> }>(`/v1/servers/${server.id}/deployments`)
    ) as ReadonlyArray<Deployment>
    const tarballs = () => registries[0]!.seen.filter((path) => path.endsWith(".tgz")).length
    const before = tarballs()
    const again = await deploy({ imageUri: "npm:@tools/stdio@1.0.0" })
    expect(again).toMatchObject({ status: "running", imageDigest: first!.imageDigest, args: null })
    expect(tarballs()).toBe(before)
    expect(readdirSync(join(home, "packages"))).toEqual(["runtime-node"])
  }, 60_000)

  itLong(
    "takes the newest without a version, and rolls back to the image, arguments and package of before",
    async () => {
      const older = await deploy({ imageUri: "npm:@tools/stdio@^1.0.0", args: ["--place", "a b", "$(id)"] })
      const newest = await deploy({ imageUri: "npm:@tools/stdio", processes: "shared", args: ["new"] })
      expect(newest).toMatchObject({ status: "running", package: { version: "2.0.0" }, processes: "shared" })
      expect((await who())["greeting"]).toBe("on stdio")
      const { version } = older
      const back = dataOf(await owner.post<{ data: Deployment }>(`/v1/servers/${server.id}/rollback`, { version }))
      expect(back).toMatchObject({ status: "running", package: { version: "1.0.0" }, processes: null })
      expect(await who()).toMatchObject({ args: ["--place", "a b", "$(id)"], greeting: "good day" })
    },
    60_000
  )

  itLong("runs the program that was asked for, and one that serves HTTP by itself", async () => {
    expect((await deploy({ imageUri: "npm:two-programs" })).errorMessage).toBe(
      "resolving: two-programs has several programs; say which with command: first, second"
    )
    expect((await deploy({ imageUri: "npm:two-programs", command: "escaped" })).errorMessage).toContain(
      "has no program of this name (command); it has: first, second"
    )
    expect(await deploy({ imageUri: "npm:two-programs", command: "first" })).toMatchObject({ status: "running" })
    expect((await who())["greeting"]).toBe("a")
    expect(await deploy({ imageUri: "npm:two-programs", command: "second", transport: "http", args: ["by itself"] }))
      .toMatchObject({ status: "running", transport: "http", mcp: { ok: true, tools: [{ name: "by itself" }] } })
  }, 60_000)

  it(
    "takes the version that npm takes on its Node, goes without what the registry lacks, and starts any file",
    async () => {
      expect(await deploy({ imageUri: "npm:as-it-is" })).toMatchObject({
        status: "running",
        package: { version: "1.0.0", node: process.versions.node },
        node: null
      })
      expect((await who())["greeting"]).toBe("old")
      expect(await logged()).toContain("left out, as they are optional and the registry lacks them: never-published")
      expect(await deploy({ imageUri: "npm:as-it-is@2.0.0" })).toMatchObject({ status: "running" })
      expect(await logged()).toContain(
        `as-it-is 2.0.0 asks for Node >=999, and its machine has ${process.versions.node}`
      )
    },
    60_000
  )

  it("keeps the lock of a version that served, until it is asked for a new one", async () => {
    const first = await deploy({ imageUri: "npm:mover" })
    expect(first).toMatchObject({ status: "running", package: { version: "1.0.0" } })
    await registries[0]!.publish("moves", "2.0.0", { "index.js": "throw new Error('moves 2 broke it')" })
    const asked = () => registries[0]!.seen.filter((path) => path === "/mover").length
    for (const imageUri of ["npm:mover", "npm:mover@1.0.0"]) {
      const before = asked()
      expect(await deploy({ imageUri }), imageUri).toMatchObject({
        status: "running",
        imageDigest: first.imageDigest,
        package: { lockDigest: first.package!.lockDigest }
      })
      // One version alone needs no look at the registry.
      expect(asked() > before).toBe(imageUri === "npm:mover")
    }
    expect(await logged()).toContain(
      "mover 1.0.0 is installed with what it had when it served; freshDependencies: true"
    )
    const anew = await deploy({ imageUri: "npm:mover@1.0.0", freshDependencies: true })
    expect(anew).toMatchObject({ status: "failed", freshDependencies: true })
    expect(anew.errorMessage).toContain("moves 2 broke it")
    // It did not serve: what it was resolved to is not kept.
    expect(await deploy({ imageUri: "npm:mover" })).toMatchObject({ status: "running", imageDigest: first.imageDigest })
  }, 60_000)

  it("that its egress stops is failed with the hosts and the one command that allows them", async () => {
    const other = await owner.server(server.projectId)
    const { errorMessage } = await deploy({ imageUri: "npm:asks-outside" }, other)
    expect(errorMessage).toMatch(
      /^checking: the machine exited with code 3 before \/healthz answered: no settings\. Mean/
    )
    expect(errorMessage).toContain("Meanwhile its egress refused api.example.org, db.example.org, which may be why")
    expect(errorMessage).toContain(
      `update_server --input '{"serverId":"${other.id}","egress":{"add":["api.example.org","db.example.org"]}}'`
    )
  }, 60_000)

  itLong(
    "is tried once by the process that is there, as long as a client would wait, and told by name what helps",
    async () => {
      const other = await owner.server(server.projectId, { healthTimeoutSeconds: 5 })
      expect(await deploy({ imageUri: "npm:slow" }, other)).toMatchObject({ status: "running", mcp: { ok: true } })
      const { body } = await owner.get<{ data: ReadonlyArray<{ message: string }> }>(
        `/v1/servers/${other.id}/logs?limit=200`
      )
      expect(JSON.stringify(body).split("a process begins")).toHaveLength(2)
    },
    60_000
  )

  it("fails with a sentence that says why: no such package or version, no program, a program that ends", async () => {
    const failures = {
      "npm:nowhere": /resolving: the registry \S+ has no package nowhere$/,
      "npm:@tools/stdio@7.0.0": /resolving: the registry \S+ has no version @tools\/stdio@7\.0\.0$/,
      "npm:no-program": /has no program that runs on Node or by itself/
    }
    for (const [imageUri, message] of Object.entries(failures)) {
      const failed = await deploy({ imageUri })
      expect(failed).toMatchObject({ status: "failed", imageDigest: null })
      expect(failed.errorMessage).toMatch(message)
    }
    const ended = await deploy({ imageUri: "npm:@tools/stdio", args: ["--fail"] })
    expect(ended.errorMessage).toMatch(/exited with code 4 before \/healthz answered: Fatal error: the argument PLACE/)
  }, 60_000)

  it("must speak MCP as what serves must, whatever image failed after it, and before that as the newest must", async () => {
    const required = async ({ id }: Server) =>
      dataOf(await owner.get<{ data: { mcpRequired: boolean } }>(`/v1/servers/${id}`)).mcpRequired
    const nowhere = { image: "oci:/nowhere/at/all", package: "npm:nowhere" }
    const other = await owner.server(server.projectId)
    for (const [imageUri, isOther] of [[nowhere.package, true], [nowhere.image, false]] as const) {
      for (const to of [server, other]) {
        expect(await deploy({ imageUri }, to)).toMatchObject({ status: "failed" })
      }
      expect([await required(server), await required(other)]).toEqual([true, isOther])
    }
  })

  it(
    "that ends early is told with its program's own exit code alone, and of memory where that is what it lacked",
    async () => {
      const endings = {
        "process.exit(7)": "the machine exited with code 7 before /healthz answered",
        "process.exit(0)":
          "the machine exited with code 0 before /healthz answered, and nothing ever listened on its port: " +
          "the package's program does not speak MCP over stdio: ",
        "process.kill(process.pid, 'SIGKILL')":
          "the machine exited with code 137 (SIGKILL, as when it takes more memory than it has) before /healthz answered"
      }
      for (const [at, [code, told]] of Object.entries(endings).entries()) {
        await registries[0]!.publish("early", `1.0.${at}`, { "a.js": code }, { bin: "a.js" })
        const { errorMessage = "" } = await deploy({ imageUri: `npm:early@1.0.${at}` })
        expect(errorMessage.slice(0, "checking: ".length + told.length)).toBe(`checking: ${told}`)
        expect(errorMessage.match(/code \d+/g)).toHaveLength(1)
      }
    },
    60_000
  )

  it.each(sampled(["by-url", "by-git", "by-folder", "by-file"], 4))(
    "whose dependency comes from elsewhere is not installed: %s",
    async (name) => {
      const { errorMessage, status } = await deploy({ imageUri: `npm:${name}` })
      expect(status).toBe("failed")
      expect(errorMessage).toMatch(/^resolving: /)
      expect(errorMessage).not.toMatch(/internal error/)
    },
    30_000
  )

  itLong("can write nowhere but in its own folder, in the host and in the image", async () => {
    expect(await deploy({ imageUri: "npm:climber" })).toMatchObject({ status: "running" })
    expect((await who())["greeting"]).toEqual(["node_modules"])
    expect(existsSync(join(home, "climbed"))).toBe(false)
    expect(existsSync("/climbed")).toBe(false)
  }, 60_000)

  it("is refused before anything begins when its name is none, or a field is for something else", async () => {
    const refused = {
      imageUri: [
        "npm:../../etc",
        "npm:",
        "npm:-g",
        "npm:a@file:../x",
        "npm:a@git+ssh://x",
        "npm:a@npm:b@1",
        "npm:a b",
        "npm:a@1;x",
        "npm:https://example.com/a.tgz",
        "npm:a.tgz",
        "npm:@a",
        "npm:a@--registry=x",
        "pypi:a @ https://x",
        "pypi:-r",
        "pypi:a=1"
      ]
    }
    for (const imageUri of refused.imageUri) {
      const { body, status } = await owner.post<{ error: { message: string } }>(`/v1/servers/${server.id}/deploy`, {
        imageUri
      })
      expect(status, imageUri).toBe(422)
      expect(body.error.message, imageUri).toMatch(/^imageUri: /)
    }
    for (const field of [{ transport: "http" }, { processes: "shared" }]) {
      const { status } = await owner.post(`/v1/servers/${server.id}/deploy`, {
        imageUri: "registry.local/a:1",
        ...field
      })
      expect(status).toBe(422)
    }
    const both = { imageUri: "npm:a", transport: "http", processes: "shared" }
    expect((await owner.post(`/v1/servers/${server.id}/deploy`, both)).status).toBe(422)
    const many = { imageUri: "npm:a", args: Array.from({ length: 101 }, () => "x") }
    expect((await owner.post(`/v1/servers/${server.id}/deploy`, many)).status).toBe(422)
  })

  it("leaves the program that serves it where the build puts it", () => {
    expect(existsSync(bundledProgram("stdio-shim.js"))).toBe(true)
  })
})
