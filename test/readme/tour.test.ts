import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, it } from "vitest"
import { build, newPlace } from "../program/support/program.ts"
import { describeLong } from "../support/needs.ts"

const readme = readFileSync(join(import.meta.dirname, "../../README.md"), "utf8")

/** The tour's commands, in order; those of one block share a block. */
const blocks = [...readme.matchAll(/^```sh tour\n([\s\S]*?)^```$/gm)].map(([, commands]) => commands ?? "")

let folder: string
/** A newcomer's environment: nothing of the test runner's (it sets a BASE_URL of its own). */
const environment: NodeJS.ProcessEnv = {
  PATH: process.env["PATH"],
  HOME: process.env["HOME"],
  NO_COLOR: "1",
  SCANNER: "none",
  npm_config_update_notifier: "false"
}

let platform: ReturnType<typeof spawn>
let output = ""
let port = 0

/** Waits for a line of the platform; its whole output is told when it does not come. */
const printed = async (line: RegExp) => {
  const until = Date.now() + 120_000
  while (!line.test(output)) {
    if (platform.exitCode !== null || Date.now() > until) throw new Error(`it did not print ${line}:\n${output}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** One shell for all, as in a terminal: later commands use what earlier ones set. */
const run = (script: string) =>
  new Promise<{ code: number | null; text: string }>((resolve) => {
    const shell = spawn("bash", ["-e", "-c", script], { cwd: folder, env: environment })
    let text = ""
    shell.stdout.on("data", (chunk) => text += chunk)
    shell.stderr.on("data", (chunk) => text += chunk)
    shell.on("close", (code) => resolve({ code, text }))
  })

describeLong("the README's tour", () => {
  beforeAll(async () => {
    const place = await newPlace()
    await build(place)
    folder = place.folder
    port = place.port
    environment["XDG_CONFIG_HOME"] = join(folder, ".config")
    environment["BERTH_URL"] = `http://localhost:${port}`
    // What `npm start` runs once it has built, with its home where that has it: test/program/start.test.ts tries the rest.
    const env = { ...environment, PORT: String(port) }
    platform = spawn("node", ["dist/berth.js", "serve"], { cwd: folder, env })
    platform.stdout?.on("data", (chunk) => output += chunk)
    platform.stderr?.on("data", (chunk) => output += chunk)
    await printed(/^ {2}npx berth call /m)
  }, 150_000)

  afterAll(async () => {
    if (platform.exitCode !== null) return
    const ended = new Promise((resolve) => platform.once("close", resolve))
    platform.kill("SIGTERM")
    await ended
  }, 30_000)

  it("runs as printed, command by command, on what the first start set up", async () => {
    assert.isAtLeast(blocks.length, 8)
    // npx has found the program with the first; to find it anew each time takes longer than its work.
    const found = "npx() { shift; node bin/berth.js \"$@\"; }\n"
    const marked = blocks.map((block, index) => `echo "--- ${index}"\n${index === 1 ? found : ""}${block}`).join("")
    // The port alone differs: 8787 may be taken here.
    const { code, text } = await run(marked.replaceAll("localhost:8787", `localhost:${port}`))
    assert.strictEqual(code, 0, text)
    for (
      const told of [
        /Logged in until \d{4}-/,
        /MCP URL {4}http:\/\/localhost:\d+\/s\/corner-kitchen\/mcp/,
        /"businessName":"Corner Kitchen"/,
        /create_server/,
        /"?status"?: ?running|status {2,}running|status: running/,
        /HTTP\/1\.1 401 /,
        /WWW-Authenticate: Bearer .*resource_metadata=/i,
        /Fire-Roasted Tomato Soup/,
        /"data":\[\{"id":"dep_/,
        /"message":"Deployment 1: /
      ]
    ) assert.match(text, told)
  }, 180_000)
})
