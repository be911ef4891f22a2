import { execFile, spawn, type StdioOptions } from "node:child_process"
import { closeSync, cpSync, existsSync, mkdirSync, openSync, renameSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll } from "vitest"
import { checkout } from "../../readme/checkout.ts"
import { freePort } from "../../support/http.ts"
import { temporaryDirectory } from "../../support/Settings.ts"
import { traces } from "./traces.ts"

/** Where a platform runs: the same over all its starts. */
export interface Place {
  /** A checkout of its own: somebody else's build does not change it half-way. */
  readonly folder: string
  readonly home: string
  readonly port: number
}

/** A user's environment, and nothing of the test runner's, which sets a BASE_URL. */
export const environment = (place: Place, variables: Readonly<Record<string, string>> = {}) => ({
  PATH: process.env["PATH"] ?? "",
  HOME: process.env["HOME"] ?? place.folder,
  XDG_CONFIG_HOME: join(place.folder, ".config"),
  NO_COLOR: "1",
  npm_config_update_notifier: "false",
  BERTH_HOME: place.home,
  PORT: String(place.port),
  SCANNER: "none",
  // A new home fetches no Node.
  PACKAGE_NODE: "host",
  ...variables
})

/** A checkout with an empty home; `npm start` is what builds it. */
export const newPlace = async (): Promise<Place> => {
  const folder = temporaryDirectory("checkout")
  checkout(folder)
  return { folder, home: temporaryDirectory("program"), port: await freePort() }
}

export const anotherHome = async ({ folder }: Place): Promise<Place> => ({
  folder,
  home: temporaryDirectory("program"),
  port: await freePort()
})

/** What the first of a run has built, for all others: they are checkouts of the same. */
const builtHere = join(tmpdir(), "built")

/** Whether nobody else builds: `mkdir` succeeds for one alone. */
const claimed = () => {
  try {
    mkdirSync(`${builtHere}.claim`)
    return true
  } catch {
    return false
  }
}

export const build = async (place: Place) => {
  const dist = join(place.folder, "dist")
  while (!existsSync(builtHere) && !claimed()) await new Promise((resolve) => setTimeout(resolve, 100))
  if (existsSync(builtHere)) return cpSync(builtHere, dist, { recursive: true })
  try {
    await promisify(execFile)("npm", ["run", "--silent", "build"], { cwd: place.folder, env: environment(place) })
    // Put there in one step.
    const half = temporaryDirectory("half")
    cpSync(dist, half, { recursive: true })
    renameSync(half, builtHere)
  } finally {
    rmSync(`${builtHere}.claim`, { recursive: true })
  }
}

export const clear = ({ folder, home }: Place) => {
  for (const path of [folder, home]) rmSync(path, { recursive: true, force: true })
}

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A running `berth serve`. */
export interface Program {
  readonly place: Place
  readonly url: string
  readonly pid: number
  readonly output: () => string
  /** Waits for what it prints; fails with all it printed when it ends before, or is slower than that. */
  readonly printed: (what: RegExp, seconds?: number) => Promise<RegExpExecArray>
  /** Whoever reads what it prints goes away. */
  readonly closeOutput: () => void
  /** Sends the signal and waits for the end. */
  readonly end: (signal: NodeJS.Signals) => Promise<Exit>
}

/** A descriptor of the host's root that every program here is started with, as a careless wrapper does. */
export const leaked = 77

export const run = (
  place: Place,
  [command, ...args]: readonly [string, ...ReadonlyArray<string>],
  variables: Readonly<Record<string, string>> = {}
): Program => {
  const root = openSync("/", "r")
  const between = Array.from({ length: leaked - 3 }, () => "ignore" as const)
  const stdio: StdioOptions = ["pipe", "pipe", "pipe", ...between, root]
  const child = spawn(command, args, { cwd: place.folder, env: environment(place, variables), stdio })
  closeSync(root)
  let output = ""
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => (output += chunk.toString()))
  const ended = new Promise<Exit>((resolve) => child.on("close", (code, signal) => resolve({ code, signal })))
  const printed = async (what: RegExp, seconds = 90) => {
    const until = Date.now() + seconds * 1000
    for (;;) {
      const found = what.exec(output)
      if (found !== null) return found
      if (child.exitCode !== null || child.signalCode !== null || Date.now() > until) {
        throw new Error(`it did not print ${what}:\n${output}`)
      }
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return ended
  }
  const closeOutput = () => {
    child.stdout?.destroy()
    child.stderr?.destroy()
  }
  const url = `http://localhost:${place.port}`
  return { place, url, pid: child.pid ?? 0, output: () => output, printed, closeOutput, end }
}

const command = ["node", "dist/berth.js", "serve"] as const

export const serve = (place: Place, ...args: ReadonlyArray<string>) => run(place, [...command, ...args])

/** Ends what a failed test may have left of a home: by process number, each found by that home's path. */
export const sweep = ({ home }: Place) => {
  for (const { pid } of traces(home).processes) {
    try {
      process.kill(pid, "SIGKILL")
    } catch {
      // It ended with the one before.
    }
  }
}

/**
 * One platform for the tests of a file, with the sample restaurant deployed; stopped as a service manager does it.
 * It believes `X-Forwarded-For`, so that callers need not share a rate limit.
 */
export const useProgram = (variables: Readonly<Record<string, string>> = {}) => {
  const held: { program?: Program } = {}
  beforeAll(async () => {
    const place = await newPlace()
    await build(place)
    held.program = run(place, command, { TRUST_PROXY: "1", ...variables })
    await held.program.printed(/npx berth call .*\n/)
  }, 120_000)
  afterAll(async () => {
    if (held.program === undefined) return
    const { place } = held.program
    await held.program.end("SIGTERM")
    sweep(place)
    clear(place)
  }, 60_000)
  return () => {
    if (held.program === undefined) throw new Error("The platform was not started")
    return held.program
  }
}
