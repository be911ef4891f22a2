import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { missingForApps, perlFolder } from "../../deployments/support/app-image.ts"
import { type Account } from "../../support/account.ts"
import { useBerth } from "../../support/Berth.ts"
import { dockerDaemon, missingDocker } from "../../support/docker.ts"
import { describeLong, missingProgram } from "../../support/needs.ts"
import { temporaryDirectory } from "../../support/Settings.ts"
import { berthCli } from "../mcp/run.ts"

describeLong("berth deploy with a folder that has a Dockerfile", () => {
  const berth = useBerth({ machines: true })
  const home = temporaryDirectory("cli")
  const programs = temporaryDirectory("programs")
  const folder = join(temporaryDirectory("project"), "answers")
  let owner: Account
  let daemon: Awaited<ReturnType<typeof dockerDaemon>>

  beforeAll(async () => {
    daemon = await dockerDaemon()
    owner = await berth.signUp("pro")
    mkdirSync(folder)
    perlFolder(join(folder, "root"))
    writeFileSync(
      join(folder, "Dockerfile"),
      "FROM scratch\nCOPY root/ /\nENV BEHAVIOUR=healthy\nENTRYPOINT [\"/usr/bin/perl\", \"/app.pl\"]\n"
    )
  })
  afterAll(() => daemon.stop())

  const script = (name: string, text: string) => {
    writeFileSync(join(programs, name), text)
    chmodSync(join(programs, name), 0o755)
  }
  const deploy = (path: string) => {
    vi.stubEnv("PATH", path)
    for (const [name, value] of Object.entries(daemon.env)) vi.stubEnv(name, value)
    return berthCli(["deploy", folder], {
      XDG_CONFIG_HOME: home,
      XDG_CACHE_HOME: home,
      BERTH_URL: berth.url,
      BERTH_TOKEN: owner.token
    }).finally(() => vi.unstubAllEnvs())
  }

  const isBuiltBy = async (builder: string, path: string) => {
    const { code, err, out } = await deploy(path)
    expect([code, err]).toEqual([0, expect.stringContaining(`Building the Dockerfile with ${builder}`)])
    expect(out).toMatch(/^Deployment +running$/m)
  }

  it("has it built by Docker where its daemon answers, and is live", () =>
    isBuiltBy("docker", process.env["PATH"] ?? ""))

  it("has it built by buildah where there is no Docker", async () => {
    script("docker", "#!/bin/sh\nexit 1\n")
    await isBuiltBy("buildah", `${programs}:${process.env["PATH"]}`)
  })

  it("says what to install where neither is there", async () => {
    const { code, err } = await deploy(temporaryDirectory("empty"))
    expect([code, err]).toEqual([
      1,
      expect.stringContaining("neither docker (with its daemon running) nor buildah is here")
    ])
  })

  it("says that a build failed, and deploys nothing", async () => {
    script("docker", "#!/bin/sh\n[ \"$1\" = info ]\n")
    const { code, err } = await deploy(`${programs}:${process.env["PATH"]}`)
    expect([code, err]).toEqual([1, expect.stringContaining("docker build failed with exit code 1")])
  })
}, missingForApps ?? missingDocker ?? missingProgram("buildah"))
