import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { afterAll, afterEach, beforeAll, expect, it } from "vitest"
import { describeLong } from "../support/needs.ts"
import { build, clear, environment, newPlace, type Place, serve, sweep } from "./support/program.ts"
import { nothing, traces } from "./support/traces.ts"

const missing = process.platform !== "linux"
  ? "machines run on Linux only"
  : spawnSync("script", ["--version"]).status === 0
  ? undefined
  : "script(1) of util-linux, which makes terminals, is not installed"

const ctrlC = "\u0003"

/** A program in a terminal of its own. */
const inTerminal = (place: Place, line: string) => {
  const terminal: ChildProcess = spawn("script", ["-qefc", line, "/dev/null"], {
    cwd: place.folder,
    env: { ...environment(place), TERM: "xterm", SHELL: "/bin/sh" },
    stdio: ["pipe", "pipe", "inherit"]
  })
  let output = ""
  terminal.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()))
  const ended = new Promise<number | null>((resolve) => terminal.on("close", resolve))
  const printed = async (what: RegExp) => {
    const until = Date.now() + 90_000
    while (!what.test(output)) {
      if (terminal.exitCode !== null || Date.now() > until) throw new Error(`it did not print ${what}:\n${output}`)
      await setTimeout(10)
    }
  }
  return {
    type: (keys: string) => terminal.stdin?.write(keys),
    close: () => terminal.kill("SIGKILL"),
    output: () => output,
    ended,
    printed
  }
}

describeLong("a platform in a terminal", () => {
  let place: Place
  beforeAll(async () => {
    place = await newPlace()
    await build(place)
    // It has been built: `npm start` need not do it again before a key is pressed.
    const manifest = join(place.folder, "package.json")
    const text = readFileSync(manifest, "utf8")
    writeFileSync(manifest, text.replace(/"build": "[^"]+"/, "\"build\": \"true\""))
  }, 120_000)
  afterEach(() => sweep(place))
  afterAll(() => clear(place))

  const gone = () => expect.poll(() => traces(place.home), { timeout: 30_000, interval: 200 }).toEqual(nothing)

  it.each(["exec node dist/berth.js serve", "exec npm start"])(
    "%s: Ctrl-C three times leaves nothing, with code 0",
    async (line) => {
      const terminal = inTerminal(place, line)
      await terminal.printed(/npx berth call/)
      expect(traces(place.home).machines).toHaveLength(1)
      for (let times = 0; times < 3; times++) {
        terminal.type(ctrlC)
        await setTimeout(120)
      }
      expect(await terminal.ended).toBe(0)
      expect(traces(place.home)).toEqual(nothing)
      expect(terminal.output()).not.toMatch(/DeprecationWarning|ERROR/)
    },
    120_000
  )

  it("Ctrl-C at any moment of a start is no failure", async () => {
    for (const delay of [0, 100, 250]) {
      const terminal = inTerminal(place, "node dist/berth.js serve --no-demo; echo code $?")
      if (delay > 0) await terminal.printed(/Machines run|Berth is ready/)
      else await terminal.printed(/signs access|Migrated|Machines run/)
      await setTimeout(delay)
      terminal.type(ctrlC)
      await terminal.ended
      expect(terminal.output()).not.toMatch(/sandbox:|can't|code 1|ERROR/)
      await gone()
    }
  }, 120_000)

  it(
    "a terminal that closes takes everything along; the next start is clean, and SIGTERM twice, as impatient service managers send it, ends it in order",
    async () => {
      const closing = inTerminal(place, "exec node dist/berth.js serve --no-demo")
      await closing.printed(/Berth is ready/)
      closing.close()
      await gone()
      const next = serve(place)
      await next.printed(/npx berth call .*\n/)
      expect(next.output()).not.toMatch(/WARN|ERROR/)
      process.kill(next.pid, "SIGTERM")
      await setTimeout(50)
      expect(await next.end("SIGTERM")).toEqual({ code: 0, signal: null })
      expect(traces(place.home)).toEqual(nothing)
    },
    120_000
  )
}, missing)
