import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { freePort } from "../../support/http.ts"
import { nodeOptions } from "./node-options.ts"

/**
 * The built program on a database, answering; `before` is what it is started by, such as `taskset -c 0`, `variables` are
 * settings beside the usual ones.
 */
export const startProgram = async (
  home: string,
  databaseUrl: string,
  before: ReadonlyArray<string> = [],
  variables: Readonly<Record<string, string>> = {}
) => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const [command = "", ...args] = [...before, process.execPath, ...nodeOptions, "dist/berth.js", "serve", "--no-demo"]
  const child = spawn(command, args, {
    env: {
      PATH: process.env["PATH"] ?? "",
      BERTH_HOME: home,
      DATABASE_URL: databaseUrl,
      PORT: String(port),
      BASE_URL: url,
      COMPUTE_DRIVER: "sandbox",
      SCANNER: "none",
      LOG_LEVEL: "WARN",
      NODE_ENV: "production",
      // The same at each start: some databases are kept for the next run.
      SECRET_KEY: createHash("sha256").update(home).digest("base64"),
      // Each request has an address of its own, or the rate limit would be what is measured.
      TRUST_PROXY: "1",
      ...variables
    },
    stdio: ["ignore", "ignore", "inherit"]
  })
  // A run that fails leaves no program behind.
  process.once("exit", () => child.kill())
  for (;;) {
    if (child.exitCode !== null) throw new Error("the program ended")
    const there = await fetch(`${url}/v1/health`).then((answer) => answer.ok, () => false)
    if (there) return { child, port, url }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
