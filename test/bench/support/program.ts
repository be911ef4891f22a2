import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { freePort } from "../../support/http.ts"

/** The built program on a database, answering; `before` is what it is started by, such as `taskset -c 0`. */
export const startProgram = async (home: string, databaseUrl: string, before: ReadonlyArray<string> = []) => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const [command = "", ...args] = [...before, process.execPath, "dist/berth.js", "serve"]
  const child = spawn(command, args, {
    env: {
      PATH: process.env["PATH"] ?? "",
      BERTH_HOME: home,
      DATABASE_URL: databaseUrl,
      PORT: String(port),
      BASE_URL: url,
      COMPUTE_DRIVER: "sandbox",
      LOG_LEVEL: "WARN",
      // Without the demo's machine.
      NODE_ENV: "production",
      SECRET_KEY: randomBytes(32).toString("base64"),
      // Each request has an address of its own, or the rate limit would be what is measured.
      TRUST_PROXY: "1"
    },
    stdio: ["ignore", "ignore", "inherit"]
  })
  for (;;) {
    if (child.exitCode !== null) throw new Error("the program ended")
    const there = await fetch(`${url}/v1/health`).then((answer) => answer.ok, () => false)
    if (there) return { child, port, url }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
