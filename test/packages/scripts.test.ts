import { readdirSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { fakeOutside } from "../egress/support.ts"
import { stdioShimBundle } from "../ready-server/bundle.ts"
import { type Account, dataOf, type Server } from "../support/account.ts"
import { type BerthOptions, useBerth } from "../support/Berth.ts"
import { callTool, connectMcp } from "../support/mcp.ts"
import { describeWhen, itLong, missingProgram } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { type NpmRegistry, startNpmRegistry } from "./support/npm-registry.ts"
import { stdioServer } from "./support/stdio-server.ts"

interface Deployment {
  readonly id: string
  readonly status: string
  readonly version: number
  readonly imageDigest: string | null
  readonly packageScripts: boolean
  readonly errorMessage?: string
  readonly package: { readonly lockDigest: string } | null
}

const missing = process.platform === "linux" ? missingProgram("openssl") : "machines run on Linux only"

/** What the server says that a script wrote into its folder. */
const made = stdioServer(`(() => {
  const { existsSync, readFileSync } = require("fs")
  const file = __dirname + "/made"
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : "nothing was made"
})()`)

/** Looks for what no script may find, and writes it down. */
const curious = (port: number) =>
  `const { connect } = require("net"), fs = require("fs")
const reach = (host, port) => new Promise((resolve) => {
  const socket = connect(port, host, () => resolve("reached"))
  socket.setTimeout(1_000, () => resolve("silent"))
  socket.on("error", (error) => resolve(error.code))
})
const attempt = (work) => { try { return work() } catch (error) { return error.code } }
void (async () => {
  fs.writeFileSync("made", JSON.stringify({
    env: Object.keys(process.env),
    home: attempt(() => fs.readdirSync(process.env.HOME_OF_HOST ?? ${JSON.stringify("HOST")})),
    shadow: attempt(() => fs.readFileSync("/etc/shadow")),
    proc: attempt(() => fs.readdirSync("/proc").filter((name) => /^\\d+$/.test(name)).length),
    runtime: attempt(() => fs.appendFileSync("/.berth-files/run-scripts.cjs", "x")),
    registry: await reach("127.0.0.1", ${port}),
    metadata: await reach("169.254.169.254", 80),
    outside: await fetch("https://example.com").then(() => "reached", ({ cause }) => cause?.code ?? "failed")
  }))
})()`

describeWhen(missing, "install scripts of a package", () => {
  const home = temporaryDirectory("scripts")
  const registries: Array<NpmRegistry> = []
  // Its address must be known before the platform starts.
  const variables: Record<string, string> = {
    BERTH_HOME: home,
    PACKAGE_SCRIPTS_SECONDS: "8",
    EGRESS_PRIVATE_HOSTS: "api.example.com"
  }
  const options: BerthOptions = { machines: true, variables }
  const worlds: Array<Awaited<ReturnType<typeof fakeOutside>>> = []
  beforeAll(async () => {
    await stdioShimBundle()
    const registry = await startNpmRegistry()
    registries.push(registry)
    Object.assign(variables, { NPM_REGISTRY: registry.url, ALLOWED_PRIVATE_HOSTS: registry.host })
    const publish = (name: string, script: string, files: Readonly<Record<string, string>> = {}) =>
      registry.publish(name, "1.0.0", { "server.js": made, ...files }, {
        bin: "server.js",
        scripts: { postinstall: script },
        hasInstallScript: true
      })
    await registry.publish("native", "2.0.0", {
      "make.sh": "#!/bin/sh\necho '\"by its dependency\"' > built\nchmod 755 built\n"
    }, {
      scripts: { install: "sh make.sh && ln -s built linked && test -e linked" },
      hasInstallScript: true
    })
    await registry.publish("@tools/built", "1.0.0", {
      "server.js": made,
      "make.js": `const { join, dirname } = require("path"), fs = require("fs")
console.log("making it")
fs.writeFileSync("made", fs.readFileSync(join(dirname(require.resolve("native/package.json")), "linked")))`
    }, {
      bin: "server.js",
      dependencies: { native: "^2.0.0" },
      scripts: { postinstall: "node make.js" },
      hasInstallScript: true
    })
    await publish("failing", "echo 'no such library: libfoo' >&2; exit 3")
    await publish("endless", "echo begun; sleep 1000")
    await publish("greedy", "node -e 'const a = []; for (;;) a.push(Buffer.alloc(1 << 24, 1))'")
    await publish("curious", "node look.js", {
      "look.js": curious(Number(new URL(registry.url).port)).replace("\"HOST\"", JSON.stringify(home))
    })
    await publish("idle", "true")
    await publish("fetching", "node fetch.js", {
      "fetch.js": `fetch("http://api.example.com/").then((answer) => answer.text())
        .then((text) => require("fs").writeFileSync("made", JSON.stringify(text)))`
    })
    const world = await fakeOutside()
    worlds.push(world)
    world.names.set("api.example.com", ["127.0.0.1"])
    Object.assign(options, { outside: world.outside })
  })
  afterAll(async () => {
    for (const registry of registries) await registry.close()
    for (const world of worlds) world.close()
  })
  const berth = useBerth(options)
  let owner: Account
  let server: Server

  beforeAll(async () => {
    owner = await berth.signUp("enterprise")
    server = await owner.server((await owner.project()).id, { healthTimeoutSeconds: 30 })
  })

  const deploy = async (name: string, fields: Readonly<Record<string, unknown>> = { packageScripts: true }) =>
    dataOf(
      await owner.post<{ data: Deployment }>(`/v1/servers/${server.id}/deploy`, {
        imageUri: `npm:${name}`,
        ...fields
      })
    )
  const found = async () => {
    const { accessToken } = dataOf(
      await owner.request<{ data: { accessToken: string } }>("POST", `/v1/servers/${server.id}/test-token`)
    )
    const client = await connectMcp(`${berth.url}/s/${server.slug}`, { token: accessToken })
    const { content: [first] } = await callTool(client, "who")
    await client.close()
    return (JSON.parse(first?.type === "text" ? first.text : "{}") as { greeting: unknown }).greeting
  }
  const logged = async () => {
    const { body } = await owner.get<{ data: ReadonlyArray<{ message: string }> }>(
      `/v1/servers/${server.id}/logs?limit=200`
    )
    return JSON.stringify(body)
  }
  /** Nothing is left of one that ran: neither its machine nor its folder. */
  const machines = () => readdirSync(join(home, "machines")).filter((name) => name.endsWith(".scripts"))
  const folders = () => readdirSync(join(home, "packages")).filter((name) => name.startsWith(".tmp"))
  let without: Deployment

  it("are not run unless asked for, and the log says how", async () => {
    without = await deploy("@tools/built", {})
    expect(without).toMatchObject({ status: "running", packageScripts: false })
    expect(await found()).toBe("nothing was made")
    expect(await logged()).toContain("deploy it with packageScripts: true")
  }, 60_000)

  it("are run in a machine when asked for by the tool; the server has what they wrote, in another image", async () => {
    const tools = await connectMcp(berth.url, { token: owner.token })
    const { structuredContent } = await callTool(tools, "deploy", {
      serverId: server.id,
      imageUri: "npm:@tools/built",
      packageScripts: true
    })
    await tools.close()
    const deployed = structuredContent as unknown as Deployment
    expect(deployed).toMatchObject({ status: "running", packageScripts: true })
    expect(await found()).toBe("by its dependency")
    expect(deployed.imageDigest).not.toBe(without.imageDigest)
    expect(deployed.package?.lockDigest).toBe(without.package?.lockDigest)
    const log = await logged()
    expect(log).toContain("will be run, in a machine of their own: @tools/built, native")
    expect(log).toContain("making it")
    expect([machines(), folders()]).toEqual([[], []])
  }, 60_000)

  it("that fail, fail the deployment with their last words, and leave nothing", async () => {
    const failed = await deploy("failing")
    expect(failed).toMatchObject({ status: "failed" })
    expect(failed.errorMessage).toBe(
      "resolving: the install script of failing failed with exit code 3: no such library: libfoo"
    )
    expect(await logged()).toContain("no such library: libfoo")
    expect([machines(), folders()]).toEqual([[], []])
  }, 60_000)

  it("are refused for images and for packages of PyPI, and no other value than true or false is taken", async () => {
    const bodies = [
      [{ imageUri: "registry.local/a:1", packageScripts: true }, /^packageScripts: is for packages of npm \(npm:…\)/],
      [{ imageUri: "pypi:a", packageScripts: true }, /^packageScripts: .*wheels/],
      [{ imageUri: "npm:a", packageScripts: "yes" }, /^packageScripts: /]
    ] as const
    for (const [body, message] of bodies) {
      const answer = await owner.post<{ error: { message: string } }>(`/v1/servers/${server.id}/deploy`, body)
      expect(answer.status, JSON.stringify(body)).toBe(422)
      expect(answer.body.error.message).toMatch(message)
    }
  })

  itLong("are ended when their time is over", async () => {
    const failed = await deploy("endless")
    expect(failed.errorMessage).toBe(
      "resolving: the install scripts took longer than the 8 seconds of PACKAGE_SCRIPTS_SECONDS: begun"
    )
    expect([machines(), folders()]).toEqual([[], []])
  }, 60_000)

  itLong("that take more memory than there is end alone", async () => {
    const failed = await deploy("greedy")
    expect(failed).toMatchObject({ status: "failed" })
    expect(failed.errorMessage).toMatch(
      /^resolving: the install script of greedy (ended by SIGKILL.*1024 MB|failed with exit code)/
    )
  }, 60_000)

  itLong("find nothing of the host: no file, no variable, no process, no network", async () => {
    expect(await deploy("curious")).toMatchObject({ status: "running" })
    const said = await found() as Record<string, unknown>
    expect(said).toMatchObject({ home: "ENOENT", shadow: "ENOENT", registry: "ECONNREFUSED" })
    expect(said["runtime"]).toMatch(/^E/)
    expect(said["proc"]).toBeLessThan(10)
    expect(said["metadata"]).not.toBe("reached")
    expect(said["outside"]).not.toBe("reached")
    const env = said["env"] as ReadonlyArray<string>
    expect(env.filter((name) => /BERTH|DATABASE|SECRET|REPLAY|TOKEN|OAUTH|SVC_/i.test(name))).toEqual([])
  }, 60_000)

  itLong("reach the hosts that the server's egress allows, and no others", async () => {
    const refused = await deploy("fetching")
    expect(refused).toMatchObject({ status: "failed" })
    expect(await logged()).toContain("api.example.com")
    await owner.request("PATCH", `/v1/servers/${server.id}`, { body: { egress: { allow: ["api.example.com"] } } })
    expect(await deploy("fetching")).toMatchObject({ status: "running" })
    expect(await found()).toBe("api.example.com over http")
  }, 60_000)

  itLong("make another image even if they wrote nothing, and a rollback takes the one of its version", async () => {
    const built = await deploy("@tools/built")
    const [plain, ran] = [await deploy("idle", { packageScripts: false }), await deploy("idle")]
    expect(plain).toMatchObject({ status: "running", packageScripts: false })
    expect(ran).toMatchObject({ status: "running", packageScripts: true })
    expect(ran.imageDigest).not.toBe(plain.imageDigest)
    const rollBack = async ({ version }: Deployment) =>
      dataOf(await owner.post<{ data: Deployment }>(`/v1/servers/${server.id}/rollback`, { version }))
    expect(await rollBack(built)).toMatchObject({
      status: "running",
      packageScripts: true,
      imageDigest: built.imageDigest
    })
    expect(await found()).toBe("by its dependency")
    expect(await rollBack(plain)).toMatchObject({ packageScripts: false, imageDigest: plain.imageDigest })
    expect(await found()).toBe("nothing was made")
  }, 60_000)
})
