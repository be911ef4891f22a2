import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { temporaryDirectory } from "../../support/Settings.ts"
import { berthCli } from "../mcp/run.ts"

describe("a folder without berth.toml", () => {
  it.each([["\"\"", "\"\""], [JSON.stringify(`@me/${"x".repeat(300)}`), `"${"x".repeat(39)}…"`]])(
    "whose package.json has a name that can't be a server's is refused, and told how to name it: %s",
    async (name, told) => {
      const folder = temporaryDirectory("unnamed")
      writeFileSync(join(folder, "package.json"), `{ "name": ${name} }`)
      expect(await berthCli(["deploy", folder], { XDG_CONFIG_HOME: folder })).toMatchObject({
        code: 2,
        err:
          `There is no berth.toml in ${folder}, and the name in its package.json, ${told}, can't name a project and ` +
          "a server: berth init --name NAME writes one"
      })
    }
  )
})

describe("server.image of berth.toml", () => {
  const outer = temporaryDirectory("outer")
  const config = join(outer, "own", "berth.toml")
  mkdirSync(join(outer, "own", "app"), { recursive: true })
  symlinkSync(outer, join(outer, "own", "up"))

  const deploy = (image: string) => {
    writeFileSync(config, `[project]\nname = "A"\n[server]\nname = "B"\nimage = "${image}"\n`)
    return berthCli(["deploy", "--config", config], { XDG_CONFIG_HOME: outer, BERTH_URL: "http://127.0.0.1:1" })
  }

  it.each(["..", "../", "../own/..", "/etc", "./up"])("is no folder outside of the file's own: %s", async (image) => {
    expect(await deploy(image)).toMatchObject({
      code: 2,
      err:
        `server.image of ${config} is ${image}, which is outside of the file's folder: write . or ./name, or give the ` +
        `folder to the command: berth deploy ${image}`
    })
  })

  it.each([".", "./app", "../own"])("may be the file's folder or one below it: %s", async (image) => {
    // It goes on to what comes next, which nobody has done here.
    expect(await deploy(image)).toMatchObject({ code: 3, err: expect.stringContaining("Log in first") as string })
  })
})
