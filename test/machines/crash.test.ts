import { type MachineState } from "#src/machines/Machines.ts"
import { waitForGo } from "#src/machines/sandbox/launcher.ts"
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { describeWhen, itLong, soak } from "../support/needs.ts"
import { testRootfs } from "../support/rootfs.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { about, driverOf, exited, processOf, reached, request, run, specOf, until } from "./support.ts"
import { everyTierAtLength, missingFor } from "./tiers.ts"

const root = new URL("../..", import.meta.url).pathname
// In the project, so that the bundle finds its packages.
const built = join(root, "node_modules/.cache", `berth-platform-${process.pid}`)
const running = new Set<ChildProcess>()

beforeAll(() => {
  testRootfs()
  mkdirSync(built, { recursive: true })
  // Bundled and minified as the product is: the keeper's text must survive that.
  const options = ["--format", "esm", "--target", "node20", "--minify", "--no-config", "--silent", "--out-dir", built]
  execFileSync(join(root, "node_modules/.bin/tsup"), [
    new URL("./platform.program.ts", import.meta.url).pathname,
    ...options
  ], {
    cwd: root
  })
})
afterAll(() => {
  for (const child of running) child.kill("SIGKILL")
  execFileSync("rm", ["-rf", built])
  closeSync(hostRoot)
})

/** A descriptor that every platform here is started with: the host's root, behind a gap, which Node leaves as it came. */
const leaked = 77
const hostRoot = openSync("/", "r")

const platform = (home: string, tier: string, mode: string, as?: { uid: number; gid: number }) => {
  const between = Array.from({ length: leaked - 3 }, () => "ignore" as const)
  const child = spawn(process.execPath, [join(built, "platform.program.js"), home, tier, mode], {
    stdio: ["ignore", "pipe", "pipe", ...between, hostRoot],
    ...as
  })
  running.add(child)
  let said = ""
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (part) => said += part)
  const heard = (word: string) =>
    until(() => {
      if (child.exitCode !== null) throw new Error(said)
      return said.includes(word) ? said : undefined
    }, 15)
  return { child, heard }
}

const kill = async (child: ChildProcess) => {
  child.kill("SIGKILL")
  await until(() => child.signalCode ?? undefined)
}

const inHome = (home: string) =>
  readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(home)
    } catch {
      return false
    }
  })

everyTierAtLength("a platform that was started with descriptors of the host", (tier) => {
  it("hands none of them to a machine, which has stdio and what it opens itself", async () => {
    const home = temporaryDirectory("m")
    const { child, heard } = platform(home, tier, "start")
    const state = JSON.parse(/it runs: (.*)/.exec(await heard("it runs"))?.[1] ?? "") as MachineState
    await reached(state)
    expect(readlinkSync(`/proc/${child.pid}/fd/${leaked}`)).toBe("/")
    for (const pid of ["self", "1"]) {
      expect((await run(state, ["ls", `/proc/${pid}/fd/${leaked}/`])).stdout).toBe("")
    }
    // The fourth is the listing's own.
    expect((await run(state, ["ls", "/proc/self/fd"])).stdout.trim().split("\n")).toEqual(["0", "1", "2", "3"])
    await kill(child)
    await driverOf(tier, home).clear()
  })
})

everyTierAtLength("a platform that is killed", (tier) => {
  it("leaves its machines running, and the next one adopts them", async () => {
    const home = temporaryDirectory("m")
    const first = platform(home, tier, "start")
    await first.heard("it runs")
    const probe = driverOf(tier, home)
    const before = await about((await probe.inspect("m")) ?? expect.fail("not listed"))
    await kill(first.child)
    const next = driverOf(tier, home)
    const [state] = await next.list()
    expect(state).toMatchObject({ name: "m", status: "running", owner: "srv_1" })
    expect(await about(state ?? expect.fail("not listed"))).toEqual(before)
    expect((await next.lines("m", 1))[0]?.text).toBe("listening")
    await next.stop("m")
    expect(await next.inspect("m")).toMatchObject({ status: "exited", exitCode: 143 })
    await probe.close()
    await next.clear()
    expect(inHome(home)).toEqual([])
  })

  it("learns afterwards how a machine ended while it was down", async () => {
    const home = temporaryDirectory("m")
    const first = platform(home, tier, "start")
    await first.heard("it runs")
    await kill(first.child)
    const next = driverOf(tier, home)
    const state = (await next.inspect("m")) ?? expect.fail("not listed")
    await reached(state)
    await next.close()
    await request(state, "/exit?9").catch(() => undefined)
    const later = driverOf(tier, home)
    expect((await exited(later, "m")).exitCode).toBe(9)
    await later.clear()
  })

  itLong("leaves nothing that the next cannot list and destroy, whenever it dies", async () => {
    const home = temporaryDirectory("m")
    for (let round = 0; round < (soak ? 8 : 2); round++) {
      const { child, heard } = platform(home, tier, "churn")
      await heard("ready")
      await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 500))
      await kill(child)
    }
    const next = driverOf(tier, home)
    const states = await next.list()
    const keepers = inHome(home).filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith("unshare")
      } catch {
        return false
      }
    }).map(Number).sort()
    const known = states.filter(({ status }) => status === "running").map(({ name }) => processOf(next, name).pid)
      .sort()
    // A launcher whose platform died before it was told to go ends by itself.
    expect(keepers.filter((pid) => !known.includes(pid))).toEqual([])
    for (const state of states) {
      // One that was told to end before its platform died still runs for a moment, and is then started anew.
      await until(async () => {
        await next.start(state.name)
        return request(state, "/").catch(() => undefined)
      })
    }
    await next.clear()
    expect(inHome(home)).toEqual([])
    expect(readdirSync(join(home, "machines")).filter((name) => !name.startsWith("."))).toEqual([])
    expect(readdirSync(join(home, "m"))).toEqual([])
  }, 60_000)
})

describe("a launcher", () => {
  it("starts nothing when its platform died before its process id was written down", () => {
    const trace = join(temporaryDirectory("m"), "trace")
    expect(() => execFileSync("/bin/sh", ["-c", waitForGo, "launcher", "touch", trace], { input: "" })).toThrow()
    expect(existsSync(trace)).toBe(false)
    execFileSync("/bin/sh", ["-c", waitForGo, "launcher", "touch", trace], { input: "go\n" })
    expect(existsSync(trace)).toBe(true)
  })
})

const notRoot = process.getuid?.() === 0 ? undefined : "only root can start it as another user"

for (const tier of ["bubblewrap", "util-linux"] as const) {
  describeWhen(
    notRoot ?? missingFor(tier),
    `an ordinary user's platform (${tier})`,
    () =>
      it("has machines too", async () => {
        const home = mkdtempSync(join(tmpdir(), "berth-test-user-"))
        chmodSync(home, 0o777)
        execFileSync("chown", ["65534:65534", home])
        const { child, heard } = platform(home, tier, "start", { uid: 65534, gid: 65534 })
        const said = await heard("it runs")
        expect(said).toContain(`"tier":"${tier}"`)
        expect(said).toMatch(/"enforces":\[.*"seccomp".*"lacks":\["a CPU limit/)
        const socket = join(home, "m", readdirSync(join(home, "m"))[0] ?? "")
        const state = {
          ...specOf("m"),
          status: "running" as const,
          exitCode: null,
          address: { _tag: "Unix" as const, path: socket }
        }
        expect((await about(state)).uid).toBe(0)
        const { stdout } = await run(state, ["cat", "/proc/self/status"])
        expect(stdout).toMatch(/CapEff:\s+0000000000000000/)
        const forked = await run(state, [
          "perl",
          "-e",
          `my $n = 0; for (1..1000) { my $p = fork; last unless defined $p;
      if (!$p) { close STDOUT; close STDERR; sleep 60; exit } $n++ } print $n`
        ])
        expect(Number(forked.stdout)).toBeLessThan(300)
        await kill(child)
        // Root stands in for the same user's next platform; only the record matters.
        const record = JSON.parse(readFileSync(join(home, "machines/m/machine.json"), "utf8")) as {
          process: { pid: number }
        }
        process.kill(record.process.pid, "SIGKILL")
        await until(() => inHome(home).length === 0 ? true : undefined)
      })
  )
}

describe("a host on which no machine can run", () => {
  it.runIf(process.getuid?.() === 0)("stops the start with a sentence that says why and what to install", async () => {
    const home = mkdtempSync(join(tmpdir(), "berth-test-user-"))
    execFileSync("chown", ["65534:65534", home])
    const { heard } = platform(home, "runc", "start", { uid: 65534, gid: 65534 })
    await expect(heard("it runs")).rejects.toThrow(/SANDBOX_TIER runc: .*runc needs root.*install bubblewrap.*Docker/)
  })

  it("is one that is not Linux", async () => {
    const platformName = Object.getOwnPropertyDescriptor(process, "platform") ?? {}
    Object.defineProperty(process, "platform", { ...platformName, value: "darwin" })
    await expect(driverOf("auto").info()).rejects.toThrow(/Linux only/)
    Object.defineProperty(process, "platform", platformName)
  })
})
