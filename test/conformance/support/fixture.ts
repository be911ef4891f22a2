import { buildReadyImage } from "#src/ready-image/build-image.ts"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { build } from "tsup"
import { readyServer } from "../../../tsup.config.ts"
import { freePort } from "../../support/http.ts"
import { temporaryDirectory } from "../../support/Settings.ts"

/** Revisions up to 2025-11-25 have sessions, 2026-07-28 has none. */
export type Era = "session" | "stateless"

/** The fixture of an era in one file. */
export const bundleFixture = async (era: Era) => {
  const outDir = temporaryDirectory("fixture")
  await build({
    ...readyServer,
    entry: { fixture: `test/conformance/fixture/${era}.program.ts` },
    sourcemap: false,
    outDir,
    config: false,
    silent: true
  })
  return join(outDir, "fixture.cjs")
}

/** An image that runs it, as the ready server's is made. */
export const fixtureImage = async (bundle: string) => {
  const { path } = await buildReadyImage(temporaryDirectory("fixture-image"), { server: bundle })
  return `oci:${path}`
}

/** Runs it on this machine, with nothing before it. */
export const startFixture = async (bundle: string) => {
  const port = await freePort()
  const child = spawn(process.execPath, [bundle], { env: { PORT: String(port) }, stdio: ["ignore", "pipe", "inherit"] })
  await once(child.stdout, "data")
  const stop = async () => {
    const ended = once(child, "exit")
    child.kill("SIGKILL")
    await ended
  }
  return { url: `http://127.0.0.1:${port}/mcp`, stop }
}
