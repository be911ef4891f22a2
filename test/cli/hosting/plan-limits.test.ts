import { Effect } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { beforeAll, expect, it } from "vitest"
import { missingForApps } from "../../deployments/support/app-image.ts"
import { mcpImage } from "../../deployments/support/mcp-image.ts"
import { type Account, type Listed, type Project } from "../../support/account.ts"
import { useBerth } from "../../support/Berth.ts"
import { describeWhen } from "../../support/needs.ts"
import { temporaryDirectory } from "../../support/Settings.ts"
import { berthCli } from "../mcp/run.ts"

/** The free plan has two servers. */
describeWhen(missingForApps, "a command at a plan's limit", () => {
  const variables: Record<string, string> = {}
  beforeAll(async () => {
    variables["READY_IMAGE"] = await Effect.runPromise(mcpImage("streamable"))
  })
  const berth = useBerth({ variables })
  const home = temporaryDirectory("plan-limits")
  const config = join(home, "berth.toml")
  let owner: Account

  const run = (...args: ReadonlyArray<string>) =>
    berthCli(args, { XDG_CONFIG_HOME: home, BERTH_URL: berth.url, BERTH_TOKEN: owner.token })
  const write = (more = "", name = "Third") =>
    writeFileSync(config, `[project]\nname = "${name}"\n[server]\nname = "Third"\n${more}`)
  const projects = async () => (await owner.get<Listed<Project>>("/v1/projects")).body.data.map(({ name }) => name)

  beforeAll(async () => {
    owner = await berth.signUp("free")
    const { id } = await owner.project()
    await owner.server(id)
    await owner.server(id)
    mkdirSync(join(home, "berth"), { recursive: true })
    writeFileSync(
      join(home, "berth", "credentials.json"),
      JSON.stringify({ [new URL(berth.url).origin]: owner.token })
    )
    writeFileSync(join(home, "menu.csv"), "name,price\nTea,2.50\n")
  })

  it("ends with the exit code of that, whichever command it is, and the deployed project is not left empty", async () => {
    const before = await projects()
    write()
    const deployed = await run("deploy", "registry.example.com/a:1", "--config", config)
    expect(deployed).toMatchObject({ code: 7, out: "" })
    expect(deployed.err).toMatch(
      /^Created the project Third\nRemoved the project Third again\nThe free plan allows 2 servers/
    )
    expect(await projects()).toEqual(before)
    const published = await run("publish", join(home, "menu.csv"), "--name", "Cafe", "--template", "restaurant")
    expect(published).toMatchObject({
      code: 7,
      err: expect.stringContaining("The free plan allows 2 servers") as string
    })
    const args = JSON.stringify({
      projectId: (await owner.get<Listed<Project>>("/v1/projects")).body.data[0]?.id,
      name: "x"
    })
    const called = await run("call", `${berth.url}/mcp`, "create_server", "--input", args)
    expect(called).toMatchObject({ code: 7 })
    const json = await run("deploy", "registry.example.com/a:1", "--config", config, "--json")
    expect(JSON.parse(json.err)).toMatchObject({ error: { code: "PLAN_LIMIT", exitCode: 7 } })
  })

  it("creates nothing where the file is refused, and leaves a project that was there", async () => {
    const before = await projects()
    await owner.delete(`/v1/servers/${(await owner.get<Listed<Project>>("/v1/servers")).body.data[0]?.id}`)
    write("[deploy]\nretention_count = 4\n", "Fourth")
    // The server is made by then, and its image is refused.
    const refused = await run("deploy", "not an image", "--config", config)
    expect(refused.err).toMatch(/Removed the server Third again\nRemoved the project Fourth again\nimageUri: /)
    write("region = \"ams\"\n", before[0])
    expect(await run("deploy", "registry.example.com/a:1", "--config", config)).toMatchObject({ code: 7 })
    expect(await projects()).toEqual(before)
    expect((await owner.get<Listed<object>>("/v1/servers")).body.meta.total).toBe(1)
  })
})
