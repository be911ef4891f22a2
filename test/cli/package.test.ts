import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, it } from "vitest"
import manifest from "../../package.json" with { type: "json" }
import { clear, environment, newPlace, type Place } from "../program/support/program.ts"
import { newEmail } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { describeLong } from "../support/needs.ts"
import { leastProcessorTime } from "../support/processor-time.ts"
import { temporaryDirectory } from "../support/Settings.ts"

const run = promisify(execFile)
const password = "correct horse battery"

describeLong("the package of the command line", () => {
  const berth = useBerth()
  /** Empty but for what npm installs. */
  const folder = temporaryDirectory("installed")
  let place: Place
  let tarball = ""
  const env = () =>
    environment(place, {
      npm_config_offline: "true",
      npm_config_cache: join(folder, "cache"),
      XDG_CACHE_HOME: join(folder, "cache"),
      BERTH_URL: berth.url
    })
  const cli = async (...args: ReadonlyArray<string>) => {
    const { stdout } = await run(join(folder, "node_modules/.bin/berth"), args, { cwd: folder, env: env() })
    return stdout
  }

  beforeAll(async () => {
    place = await newPlace()
    await run("npm", ["run", "--silent", "cli:pack"], { cwd: place.folder, env: env() })
    tarball = join(place.folder, `berth-cli-${manifest.version}.tgz`)
    await run("npm", ["install", "--no-audit", "--no-fund", "--prefix", folder, tarball], { cwd: folder, env: env() })
  }, 120_000)
  afterAll(() => clear(place))

  it("is installed alone, and has a small part of the platform's size and nothing to run it", async () => {
    expect(readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["berth-cli"])
    expect(statSync(tarball).size).toBeLessThan(1_500_000)
    const own = JSON.parse(readFileSync(join(folder, "node_modules/berth-cli/package.json"), "utf8")) as object
    expect(own).toMatchObject({ version: manifest.version, license: manifest.license, engines: manifest.engines })
    expect((await cli("--version")).trim()).toBe(manifest.version)
    const help = await cli("--help")
    expect(help).toMatch(/^ {2}deploy /m)
    expect(help).not.toMatch(/^ {2}(serve|admin) /m)
    await expect(cli("serve")).rejects.toMatchObject({ code: 1 })
  })

  it("logs in to a platform, lists servers and calls tools there, and logs out", async () => {
    const user = ["--email", newEmail(), "--password", password]
    expect(JSON.parse(await cli("login", "--sign-up", ...user, "--json"))).toMatchObject({ url: berth.url })
    const called = await cli("call", `${berth.url}/mcp`, "create_project", "--arg", "name=Packed", "--field", "name")
    expect(called).toBe("Packed\n")
    expect(JSON.parse(await cli("servers", "--json"))).toEqual([])
    expect(await cli("tools", `${berth.url}/mcp`)).toMatch(/^create_project /m)
    expect(await cli("logout")).toBe(`Logged out of ${berth.url}\n`)
    await expect(cli("servers", "--json")).rejects.toMatchObject({
      code: 3,
      stdout: "",
      stderr: expect.stringContaining("\"NOT_LET_IN\"") as string
    })
  }, 60_000)

  it("writes and reads berth.toml, with completions and a schema", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "berth-package-")), "berth.toml")
    await cli("init", "--config", file, "--name", "Menu")
    await expect(cli("deploy", "--config", file, "--json")).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Say what to deploy") as string
    })
    expect(JSON.parse(await cli("schema"))).toHaveProperty("properties.health")
    expect(await cli("completions", "zsh")).toContain("#compdef berth")
  })

  it("makes a folder's stdio server into an image, and pushes it", async () => {
    await cli("login", "--sign-up", "--email", newEmail(), "--password", password)
    const project = join(folder, "teller")
    mkdirSync(project)
    writeFileSync(join(project, "package.json"), JSON.stringify({ name: "teller", bin: "server.cjs" }))
    writeFileSync(join(project, "server.cjs"), "// StdioServerTransport\n")
    const begun = await cli("deploy", project, "--no-wait", "--json")
    expect(JSON.parse(begun)).toMatchObject({
      version: 1,
      imageUri: expect.stringMatching(/\/teller@sha256:[0-9a-f]{64}$/) as string
    })
  }, 60_000)

  it("starts soon: a command's help takes less than nine times the processor time that Node takes for nothing", () => {
    const program = join(folder, "node_modules/berth-cli/bin/berth.js")
    const nothing = leastProcessorTime(5, ["-e", "0"])
    for (const args of [["--version"], ["servers", "--help"]]) {
      expect(leastProcessorTime(5, [program, ...args]) / nothing).toBeLessThan(9)
    }
  }, 60_000)
})
