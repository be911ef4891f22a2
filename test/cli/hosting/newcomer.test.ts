import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { beforeAll, expect, it } from "vitest"
import { missingForApps } from "../../deployments/support/app-image.ts"
import { stdioShimBundle } from "../../ready-server/bundle.ts"
import { useBerth } from "../../support/Berth.ts"
import { describeLong, full } from "../../support/needs.ts"
import { temporaryDirectory } from "../../support/Settings.ts"

const unreachable = () =>
  fetch("https://registry.npmjs.org/zod/latest", { signal: AbortSignal.timeout(10_000) }).then(
    ({ status }) => status === 200 ? undefined : `npm's registry answers ${status}`,
    () => "npm's registry can't be reached"
  )
const missing = missingForApps ?? (full ? await unreachable() : undefined)

const root = join(import.meta.dirname, "../../..")
const printed = /```sh newcomer\n(.*?)```/s.exec(readFileSync(join(root, "docs/cli.md"), "utf8"))?.[1] ?? ""

describeLong("from a folder to a client, as docs/cli.md prints it", () => {
  const berth = useBerth({ machines: true })
  const home = temporaryDirectory("newcomer")
  beforeAll(() => stdioShimBundle(), 60_000)

  it("logs in, deploys the example, and calls its tool", async () => {
    // Its own program from the sources, in place of the one that npx finds; and this installation's address.
    const script = printed.replaceAll("npx berth", `${process.execPath} --import tsx src/main.ts`)
      .replaceAll("http://localhost:8787", berth.url)
    const { stderr, stdout } = await promisify(execFile)("sh", ["-ec", script], {
      cwd: root,
      env: { ...process.env, XDG_CONFIG_HOME: home, XDG_CACHE_HOME: home, BERTH_URL: berth.url, NODE_ENV: "" }
    })
    expect(stderr).toContain("server.js uses MCP's transport over stdio")
    expect(stderr).toMatch(/Pushed: \d+\.\d MB sent/)
    expect(stdout).toContain("Hello, Ada!")
  }, 240_000)
}, missing)
