import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { missingForApps, perlFolder } from "../../deployments/support/app-image.ts"
import { type Account } from "../../support/account.ts"
import { useBerth } from "../../support/Berth.ts"
import { describeLong, missingProgram } from "../../support/needs.ts"
import { temporaryDirectory } from "../../support/Settings.ts"
import { berthCli } from "../mcp/run.ts"

/** Docker as far as the command line uses it: buildah builds, and saves in Docker's own form. */
const docker = `#!/bin/sh
case "$1" in
  info) exit 0 ;;
  build) exec buildah build --iidfile "$3" "$4" ;;
  save) exec buildah push "$4" "docker-archive:$3" ;;
esac
exit 1
`

describeLong("berth deploy with a folder that has a Dockerfile", () => {
  const berth = useBerth({ machines: true })
  const home = temporaryDirectory("cli")
  const programs = temporaryDirectory("programs")
  const folder = join(temporaryDirectory("project"), "answers")
  let owner: Account

  beforeAll(async () => {
    owner = await berth.signUp("pro")
    mkdirSync(folder)
    perlFolder(join(folder, "root"))
    writeFileSync(
      join(folder, "Dockerfile"),
      "FROM scratch\nCOPY root/ /\nENV BEHAVIOUR=healthy\nENTRYPOINT [\"/usr/bin/perl\", \"/app.pl\"]\n"
    )
  })
  afterAll(() => vi.unstubAllEnvs())

  const script = (name: string, text: string) => {
    writeFileSync(join(programs, name), text)
    chmodSync(join(programs, name), 0o755)
  }
  const deploy = (path: string) => {
    vi.stubEnv("PATH", path)
    return berthCli(["deploy", folder], {
      XDG_CONFIG_HOME: home,
      XDG_CACHE_HOME: home,
      BERTH_URL: berth.url,
      BERTH_TOKEN: owner.token
    }).finally(() => vi.unstubAllEnvs())
  }

  it.each([["docker", docker], ["buildah", "#!/bin/sh\nexit 1\n"]])(
    "has it built by %s, and is live",
    async (builder, dockerHere) => {
      script("docker", dockerHere)
      const { code, err, out } = await deploy(`${programs}:${process.env["PATH"]}`)
      expect([code, err]).toEqual([0, expect.stringContaining(`Building the Dockerfile with ${builder}`)])
      expect(out).toMatch(/^State +running$/m)
    },
    60_000
  )

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
}, missingForApps ?? missingProgram("buildah"))
