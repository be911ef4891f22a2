import { Effect } from "effect"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Readable } from "node:stream"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { appImage, missingForApps } from "../../deployments/support/app-image.ts"
import { mcpImage } from "../../deployments/support/mcp-image.ts"
import { type Account, type Server } from "../../support/account.ts"
import { useBerth } from "../../support/Berth.ts"
import { describeWhen } from "../../support/needs.ts"
import { runSql } from "../../support/sql.ts"
import { berthCli } from "../mcp/run.ts"

const folder = mkdtempSync(join(tmpdir(), "berth-hosting-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** These tests build on each other: one server, from its file to its rollback. */
describeWhen(missingForApps, "the commands that host a server", () => {
  const berth = useBerth({ machines: true })
  let owner: Account
  let image = ""
  const config = join(folder, "berth.toml")
  const here = process.cwd()

  const run = (...args: ReadonlyArray<string>) => berthCli(args, { XDG_CONFIG_HOME: folder, BERTH_URL: berth.url })
  const of = (...args: ReadonlyArray<string>) => run(...args, "--config", config)
  const jsonOf = async <A>(...args: ReadonlyArray<string>) => JSON.parse((await of(...args, "--json")).out) as A
  const write = (more: string, head = "") =>
    writeFileSync(config, `[project]\nname = "Cafe"\n[server]\nname = "Menu"\nslug = "cafe-menu-cli"\n${head}${more}`)

  beforeAll(async () => {
    owner = await berth.signUp("pro")
    image = await Effect.runPromise(mcpImage("streamable"))
    mkdirSync(join(folder, "berth"))
    writeFileSync(
      join(folder, "berth", "credentials.json"),
      JSON.stringify({ [new URL(berth.url).origin]: owner.token })
    )
    process.chdir(folder)
  })
  afterAll(() => process.chdir(here))

  it("init writes a file that deploy reads, and replaces none that is there", async () => {
    expect(await of("init", "--name", "Menu \"1\"", "--project", "Cafe")).toMatchObject({
      code: 0,
      out: `Wrote ${config}`
    })
    const written = readFileSync(config, "utf8")
    expect(written).toContain("name = \"Menu \\\"1\\\"\"")
    // What the file says of a new server is what the server has without it.
    const server = await owner.server((await owner.project()).id) as Server & { deploymentRetentionCount: number }
    expect(written).toContain(`retention_count = ${server.deploymentRetentionCount} `)
    await owner.delete(`/v1/projects/${server.projectId}`)
    expect(await of("deploy")).toMatchObject({
      code: 1,
      err: `Say what to deploy: berth deploy . for this folder, berth deploy IMAGE, or server.image in ${config}`
    })
    expect(await of("init")).toMatchObject({ code: 2, err: `${config} is there already; --force replaces it` })
  })

  it("deploy tells each wrong line of the file, and creates nothing", async () => {
    write("memory = \"3gb\"\n[health]\ntimeout = 999\n")
    const { code, err } = await of("deploy", image)
    expect([code, err]).toEqual([
      2,
      `${config}:6:1: server.memory must be one of 256mb, 512mb, 1024mb, 1gb, 2048mb, 2gb\n` +
      `${config}:8:1: health.timeout must be an integer between 1 and 300`
    ])
    expect(await run("deploy", image, "--config", join(folder, "none.toml"))).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^There is no .*none\.toml here: berth init writes one$/) as string
    })
    expect(await run("status", "--config", join(folder, "none.toml"))).toMatchObject({
      code: 2,
      err: expect.stringMatching(/: berth init writes one, and --server names the server without one$/) as string
    })
    expect(await of("status")).toMatchObject({ code: 2 })
    expect((await owner.get<{ meta: { total: number } }>("/v1/servers")).body.meta.total).toBe(0)
  })

  it("call names some of many tools, and says how to see all", async () => {
    const { code, err } = await run("call", `${berth.url}/mcp`, "get_serve")
    expect(code).toBe(1)
    expect(err).toMatch(/Did you mean "get_server"\? Its tools: whoami, .*, and \d+ more: berth tools tells all\.$/)
  })

  it("who is not logged in is told so, with an exit code of its own", async () => {
    write("")
    expect(await berthCli(["servers"], { BERTH_URL: berth.url, XDG_CONFIG_HOME: join(folder, "nobody") })).toEqual({
      code: 3,
      out: "",
      err: `Log in first: berth login --url ${berth.url}`
    })
    expect(await run("servers", "--token", "svc_sess_wrong")).toMatchObject({ code: 3 })
    expect(await run("servers", "--url", "http://127.0.0.1:1", "--token", "x")).toMatchObject({ code: 6 })
  })

  it("deploy wants the variables that the file names, before anything is deployed", async () => {
    write("env = [\"API_KEY\", \"REGION\"]\n")
    expect(await of("deploy", image)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/The server lacks API_KEY, REGION.*berth env set API_KEY$/s) as string
    })
    expect(await of("env", "set", "API_KEY=s=1", "REGION=west")).toMatchObject({ code: 0, out: "Set API_KEY, REGION" })
    const input = vi.spyOn(process, "stdin", "get")
    input.mockReturnValue(Readable.from([]) as never)
    expect(await of("env", "set", "ONE=1", "API_KEY")).toMatchObject({
      code: 1,
      err: "No value for API_KEY was given, and nothing was set. API_KEY= sets an empty one"
    })
    input.mockRestore()
    expect(await of("env", "set", "EMPTY=")).toMatchObject({ code: 0, out: "Set EMPTY" })
    expect(await of("env", "unset", "EMPTY")).toMatchObject({ code: 0 })
    const file = join(folder, "more.env")
    writeFileSync(file, "# comment\nONE=1\nTWO=\"a b\"\n")
    expect(await of("env", "import", file)).toMatchObject({ code: 0, out: "Set ONE, TWO" })
    expect(await of("env", "unset", "TWO")).toMatchObject({ code: 0 })
    expect(await of("env", "unset", "TWO")).toMatchObject({ code: 4 })
    expect(await jsonOf("env", "list")).toEqual(["API_KEY", "ONE", "REGION"])
  })

  it("what is wrong in a request is told, and not taken for another version's answer", async () => {
    expect(await of("env", "set", "NEW=1", "9X=1")).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^9X: a variable's name is upper-case .* Nothing was set$/) as string
    })
    const file = join(folder, "wrong.env")
    writeFileSync(file, "NEW=1\nBAD-NAME=2\nlower=3\n")
    const { code, err } = await of("env", "import", file)
    expect([code, err]).toEqual([2, expect.stringMatching(/^BAD-NAME, lower: a variable's name/)])
    expect(await of("env", "import", "/nowhere/.env")).toMatchObject({ code: 2, err: "There is no file /nowhere/.env" })
    expect(await jsonOf("env", "list")).toEqual(["API_KEY", "ONE", "REGION"])
    write("")
    expect(await of("deploy", "not an image")).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^imageUri: /) as string
    })
    expect(await of("deploy", "--jsn")).toMatchObject({ code: 1, out: "" })
  })

  it("deploy follows the deployment to its end, and tells what the server answered over MCP", async () => {
    write("env = [\"API_KEY\"]\n")
    const { code, err, out } = await of("deploy", image)
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(
        /^Server +Menu \(srv_[^]*^Deployment +running$[^]*^MCP +(?:1 tool|\d\d+ tools|[02-9] tools) over/m
      )
    ])
    // What it does is told at least once, however fast it is.
    expect(err).toMatch(/^\S.*\n[^]*Connect a client: berth connect/)
  })

  it("deploy changes what differs from the file, and runs the program with the file's arguments", async () => {
    const given = "args = [\"/app.pl\", \"--quiet\"]\n"
    write(
      `memory = "512mb"\negress = { allow = ["api.example.com"] }\nguest_requests_per_minute = "any"\n[deploy]\nretention_count = 4\n${given}`
    )
    const { code, err } = await of("deploy", image, "--no-wait")
    expect([code, err]).toEqual([0, "Changed memoryMb, egress, guestRequestsPerMinute, deploymentRetentionCount"])
    await expect.poll(async () => (await jsonOf<{ deployment: { status: string } }>("status")).deployment.status, {
      timeout: 30_000
    }).toBe("running")
    const { deployment, server } = await jsonOf<{
      server: Server & { memoryMb: number; egress: object }
      deployment: { args: ReadonlyArray<string> }
    }>("status")
    expect(deployment.args).toEqual(["/app.pl", "--quiet"])
    expect(server).toMatchObject({ memoryMb: 512, egress: { allow: ["api.example.com"] }, slug: "cafe-menu-cli" })
    write("region = \"ams\"\n")
    expect(await of("deploy", image)).toMatchObject({
      code: 2,
      err: expect.stringContaining("region can't be changed") as string
    })
  })

  it("a deployment that fails ends with an exit code of its own and the cause", async () => {
    write("[health]\ntimeout = 5\n")
    const crash = await Effect.runPromise(appImage("crash"))
    const { code, err, out } = await of("deploy", crash)
    expect([code, out, err]).toEqual([
      5,
      expect.stringMatching(/^Deployment +failed$[^]*^Error +/m),
      expect.stringContaining("The deployment failed. berth logs has what the server printed")
    ])
    expect((await of("status")).out).toMatch(/^Serving +version 2, [^]*^Version +\d+$[^]*^Deployment +failed$/m)
    expect((await of("logs", "-n", "20")).out).toMatch(/^\d{4}-\S+Z \w+ +.*Fatal error: no configuration$/m)
  })

  it("status tells the server's own status beside its deployment's, asleep too, and whether it must speak MCP", async () => {
    const { server: { id } } = await jsonOf<{ server: Server }>("status")
    const status = async () => (await of("status")).out
    expect(await status()).toMatch(/^Status +running$[^]*^MCP required +no$[^]*^Deployment +failed$/m)
    await owner.patch(`/v1/servers/${id}`, { requireMcp: true })
    await owner.request("POST", `/v1/servers/${id}/stop`)
    expect(await status()).toMatch(/^Status +stopped$[^]*^MCP required +yes$/m)
    await runSql(berth.databaseUrl, "UPDATE servers SET asleep_at = now() WHERE id = $1", [id])
    expect(await status()).toMatch(/^Status +stopped: asleep, the next request wakes it$/m)
    await runSql(berth.databaseUrl, "UPDATE servers SET status = 'error', asleep_at = NULL WHERE id = $1", [id])
    expect(await status()).toMatch(/^Status +error$/m)
    // A client's file is left alone while nothing could answer it.
    expect(await of("connect", "--cursor", "--write")).toMatchObject({
      code: 5,
      err: expect.stringContaining("Its deployment failed: ") as string
    })
    expect(existsSync(join(folder, ".cursor"))).toBe(false)
    await owner.patch(`/v1/servers/${id}`, { requireMcp: null })
    await owner.request("POST", `/v1/servers/${id}/start`)
  })

  it("rollback goes back to a version, and says when there is none", async () => {
    expect(await of("rollback", "99")).toMatchObject({ code: 4, err: "The server has no version 99" })
    expect(await of("rollback", "1")).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Deployment +running$/m) as string
    })
    expect(await of("rollback")).toMatchObject({
      code: 4,
      err: expect.stringContaining("no earlier version with another image")
    })
  })

  it("servers, token and connect tell what is needed to use it, by id, slug or name", async () => {
    const [server] = await jsonOf<ReadonlyArray<Server>>("servers").catch(() => []) as ReadonlyArray<Server>
    const listed = JSON.parse((await run("servers", "--json")).out) as ReadonlyArray<Server>
    expect(server).toBeUndefined()
    expect(listed.map(({ name }) => name)).toEqual(["Menu"])
    expect((await run("servers")).out).toMatch(/^SERVER +STATE +REGION +SIZE +URL\nMenu +running/)
    const id = listed[0]?.id ?? ""
    for (const said of [id, "cafe-menu-cli", "Menu"]) {
      const { out } = await run("token", "--server", said)
      const answer = await fetch(`${listed[0]?.publicUrl}/healthz`, { headers: { authorization: `Bearer ${out}` } })
      expect(answer.status).toBe(200)
    }
    expect(await run("open", "--server", "Menu")).toMatchObject({ code: 0, out: listed[0]?.publicUrl, err: "" })
    expect(JSON.parse((await run("open", "--server", "Menu", "--json")).out)).toEqual({
      url: listed[0]?.publicUrl,
      opened: false
    })
    expect(await run("open", "--docs")).toMatchObject({ code: 0, out: `${berth.url}/docs` })
    expect(await run("token", "--server", "cafe-menu-cly")).toMatchObject({
      code: 4,
      err: "There is no server \"cafe-menu-cly\". Did you mean \"cafe-menu-cli\"?"
    })
    write("")
    const url = `${listed[0]?.publicUrl}/mcp`
    expect(JSON.parse((await of("connect", "--claude")).out)).toEqual({
      mcpServers: { "cafe-menu-cli": { type: "http", url } }
    })
    expect(await of("connect", "--vscode", "--write")).toMatchObject({ code: 0 })
    expect(JSON.parse(readFileSync(join(folder, ".vscode", "mcp.json"), "utf8"))).toEqual({
      servers: { "cafe-menu-cli": { type: "http", url } }
    })
    expect(await of("connect", "--claude", "--cursor")).toMatchObject({ code: 1 })
    expect(await of("connect", "--write")).toMatchObject({ code: 1 })
    expect((await of("connect")).out).toContain(`claude mcp add --transport http cafe-menu-cli ${url}`)
    expect(JSON.parse((await run("connect", `${berth.url}/mcp`, "--json")).out)).toMatchObject({
      name: "berth",
      lines: { Codex: `codex mcp add berth --url ${berth.url}/mcp` }
    })
    const foreign = await run("connect", "http://copper-ladle.mcp.localhost:8787/sse", "--cursor")
    expect(JSON.parse(foreign.out)).toEqual({
      mcpServers: { "copper-ladle": { url: "http://copper-ladle.mcp.localhost:8787/sse" } }
    })
    expect(JSON.parse((await run("connect", "https://berth.example/s/copper-ladle/", "--cursor")).out)).toEqual({
      mcpServers: { "copper-ladle": { url: "https://berth.example/s/copper-ladle/mcp" } }
    })
    expect(await run("connect", "copper-ladle", "--cursor")).toMatchObject({ code: 1 })
  })

  it("deploy and connect offer no client a server that did not answer an MCP handshake", async () => {
    const silent = await Effect.runPromise(mcpImage("none"))
    const { code, err, out } = await of("deploy", silent)
    expect([code, out]).toEqual([0, expect.stringMatching(/^MCP +the handshake failed: no MCP server was found/m)])
    expect(err).toContain("It runs, but clients may fail: the platform's own MCP handshake with it failed")
    expect(err).not.toContain("Connect a client")
    expect((await of("connect", "--claude")).err).toContain("own MCP handshake with it failed: no MCP server was found")
    expect(await of("deploy", image)).toMatchObject({ code: 0 })
    expect((await of("connect", "--claude")).err).not.toContain("handshake")
  })

  it("deploy takes the customer's own authorization server, as a whole or not at all", async () => {
    const urls = ["issuer", "jwks-uri", "authorization-endpoint", "token-endpoint"].flatMap((name) => [
      `--byoa-${name}`,
      `https://auth.example.com/${name}`
    ])
    expect(await of("deploy", image, "--auth-mode", "byoa", ...urls.slice(2))).toMatchObject({ code: 1 })
    expect(await of("deploy", image, ...urls)).toMatchObject({ code: 1 })
    expect(await of("deploy", image, "--auth-mode", "byoa", ...urls)).toMatchObject({ code: 0 })
    expect((await of("status")).out).toMatch(/^Access +byoa$/m)
    expect(await of("token")).toMatchObject({ code: 1, err: expect.stringContaining("byoa mode") as string })
  })
})
