import type { MachineState } from "#src/machines/Machines.ts"
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import * as http from "node:http"
import { type AddressInfo } from "node:net"
import { constants, tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { describeWhen, missingProgram } from "../support/needs.ts"
import { testRootfs } from "../support/rootfs.ts"
import * as escapes from "./escapes.ts"
import { about, type Driver, driverOf, exited, request, run, specOf, up } from "./support.ts"
import { everyTier } from "./tiers.ts"

const SECRET = "the host's own words"
const secretFile = join(mkdtempSync(join(tmpdir(), "berth-test-secret-")), "secret")
writeFileSync(secretFile, SECRET, { mode: 0o644 })

describeWhen(
  process.getuid?.() === 0 ? missingProgram("perl") : "chroot needs root",
  "the escape used below",
  () => {
    it("does walk out of a mere chroot", () => {
      const root = join(mkdtempSync(join(tmpdir(), "berth-test-chroot-")), "root")
      execFileSync("cp", ["-al", testRootfs(), root])
      mkdirSync(join(root, "tmp"), { recursive: true })
      const said = execFileSync("/usr/sbin/chroot", [root, "/usr/bin/perl", "-", secretFile], {
        input: escapes.chrootEscape,
        env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" }
      })
      expect(String(said)).toBe(SECRET)
    })
  }
)

everyTier("what a machine can reach", (tier) => {
  let driver: Driver
  let state: MachineState
  const perl = async (script: string) => {
    const ran = await run(state, ["perl", "-e", script, secretFile, process.arch])
    expect(ran.stderr).not.toMatch(/syntax error|Can't locate/)
    return ran.stdout
  }

  beforeAll(async () => {
    driver = driverOf(tier)
    state = await up(driver, specOf("walled", { env: { GREETING: "hello" } }))
  })
  afterAll(() => driver.clear())

  it("is an environment of its own, and nothing of the platform's", async () => {
    const { env } = await about(state)
    const { PWD: _, ...all } = env
    const proxies = /^(https?|all|no)_proxy$|^node_use_env_proxy$/i
    const rest = Object.fromEntries(Object.entries(all).filter(([name]) => !proxies.test(name)))
    expect(rest).toEqual({
      PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      HOME: "/root",
      HOSTNAME: "walled",
      GREETING: "hello",
      PORT: "3000"
    })
  })

  it("shows its sockets without the host's paths", async () => {
    const { stdout } = await run(state, ["cat", "/proc/net/unix"])
    expect(stdout).toMatch(/ [0-9a-f]{16}\.s$/m)
    expect(stdout.split("\n").filter((line) => line.includes("/"))).toEqual([])
  })

  it("is an environment with any value, which no command line of the host shows", async () => {
    const canary = "Zc9-canary"
    const values = {
      QUOTED: `it's "${canary}"; $(exit 3) \`exit\` \\ \n second line\n`,
      EMPTY: "",
      IFS: "x",
      LD_PRELOAD: "",
      PATH: "/bin:/usr/bin:/usr/local/bin"
    }
    const spec = specOf("secretive", { env: values })
    const started = await up(driver, {
      ...spec,
      config: { ...spec.config, env: [...spec.config.env, "odd.name-1=of the image"] }
    })
    expect((await about(started)).env).toMatchObject({ ...values, "odd.name-1": "of the image" })
    const shown = readdirSync("/proc").filter((pid) => {
      try {
        return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(canary)
      } catch {
        return false
      }
    })
    expect(shown).toEqual([])
    await driver.destroy("secretive")
  })

  it("is its image, not the host's files", async () => {
    expect((await run(state, ["cat", secretFile])).stdout).toBe("")
    expect((await run(state, ["cat", `/proc/1/root${secretFile}`])).stdout).toBe("")
    const image = [...readdirSync(testRootfs()), "proc", "dev", "tmp", ".berth"]
    const seen = (await run(state, ["ls", "-A", "/"])).stdout.trim().split("\n")
    expect(seen.filter((name) => !image.includes(name) && name !== "sys")).toEqual([])
  })

  it("is no process but its own", async () => {
    const pids = (await run(state, ["sh", "-c", "echo /proc/[0-9]*"])).stdout.trim().split(" ").length
    expect(pids).toBeLessThan(6)
  })

  it("holds no capability, cannot gain any, and is filtered", async () => {
    const { stdout } = await run(state, ["cat", "/proc/self/status"])
    for (const set of ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"]) {
      expect(stdout).toMatch(new RegExp(`${set}:\\s+0000000000000000`))
    }
    expect(stdout).toMatch(/NoNewPrivs:\s+1/)
    expect(stdout).toMatch(/Seccomp:\s+2/)
    const { enforces, lacks } = await driver.info()
    expect(enforces).toEqual(expect.arrayContaining(["no capabilities", "no new privileges", "seccomp"]))
    expect(lacks).not.toContain("seccomp")
  })

  it("is refused the same system calls and sockets in every tier", async () => {
    const expected = escapes.refusals.map(([label, outcome]) => `${label}: ${outcome}`)
    expect((await perl(escapes.tryRefusals)).trim().split("\n")).toEqual(expected)
  })

  it.runIf(process.arch === "x64")("dies of a system call by another convention's numbers", async () => {
    expect(await perl(escapes.otherConvention)).toBe(String(constants.signals.SIGSYS))
  })

  it("ends at its root: the classic chroot escape fails", async () => {
    expect(await perl(escapes.chrootEscape)).toBe("")
  })

  it("ends at its root: no namespace of its own to escape from either", async () => {
    expect(await perl(escapes.namespaceEscape)).toBe("")
  })

  it("cannot be mounted anew, and no other's namespace joined", async () => {
    expect(await perl(escapes.mountEscape)).toBe("")
  })

  it("has no device of the host", async () => {
    expect(await perl(escapes.deviceEscape)).toBe("")
    expect(
      (await run(state, ["sh", "-c", "echo x >/dev/null && cat /dev/zero | { read -r -n1 x || :; echo ok; }"])).stdout
    )
      .toMatch(/^(ok)?/)
  })

  it("does not change the host's kernel", async () => {
    expect(await perl(escapes.kernelEscape)).toBe("")
  })

  it("is a network of nothing but loopback", async () => {
    const server = http.createServer((_, answer) => answer.end(SECRET)).listen(0, "127.0.0.1")
    await new Promise((resolve) => server.once("listening", resolve))
    const { port } = server.address() as AddressInfo
    const got = async (url: string) => String(await request(state, `/get?url=${encodeURIComponent(url)}`))
    expect(await got(`http://127.0.0.1:${port}/`)).toMatch(/^failed/)
    expect(await got("http://1.1.1.1/")).toMatch(/^failed/)
    expect(await got("http://localhost:3000/nowhere")).toBe("got ")
    expect((await about(state)).interfaces).toEqual(["lo"])
    server.close()
  })

  it("keeps what it writes to itself, the shared image stays as it was", async () => {
    await run(state, [
      "sh",
      "-c",
      "echo mine >/app/written; echo mine >/etc/passwd; mkdir /made; rm -f /app/server.cjs"
    ])
    const image = testRootfs()
    expect(existsSync(join(image, "app/written"))).toBe(false)
    expect(existsSync(join(image, "made"))).toBe(false)
    expect(readFileSync(join(image, "etc/passwd"), "utf8")).toContain("node:x:1000")
    expect(existsSync(join(image, "app/server.cjs"))).toBe(true)
    expect((await run(state, ["sh", "-c", "echo mine >/tmp/x && cat /tmp/x"])).stdout).toBe("mine\n")
    const other = await up(driver, specOf("neighbour"))
    expect((await run(other, ["cat", "/app/written", "/tmp/x"])).stdout).toBe("")
  })

  it("is a bounded number of processes", async () => {
    const bomb = await up(driver, specOf("bomb"))
    const forked = Number((await run(bomb, ["perl", "-e", escapes.forkBomb])).stdout)
    expect(forked).toBeGreaterThan(50)
    expect(forked).toBeLessThan(300)
    const begin = Date.now()
    await driver.destroy("bomb")
    expect(Date.now() - begin).toBeLessThan(5000)
  })

  it("is a bounded memory", async () => {
    const hog = "const held = []; setInterval(() => held.push(Buffer.alloc(16 * 1024 * 1024, 1)), 5)"
    await driver.provision(specOf("hog", { memoryMb: 128 }, ["node", "-e", hog]))
    await driver.start("hog")
    const { exitCode } = await exited(driver, "hog", 15)
    // Without a cgroup the watch kills it, unless an allocation beyond the data limit failed before.
    const { enforces } = await driver.info()
    const ends = enforces.some((one) => one.includes("by rlimits and a watch")) ? [137, 134, 1] : [137]
    expect(ends).toContain(exitCode)
  })

  it("is a bounded scratch space", async () => {
    await driver.provision(specOf("filler", { memoryMb: 64 }))
    await driver.start("filler")
    const full = await up(driver, specOf("full", { memoryMb: 128 }))
    const ran = await run(full, ["sh", "-c", "cat /dev/zero >/tmp/fill"])
    expect(ran.code).not.toBe(0)
  })
})

everyTier("what a machine is given", (tier) => {
  let driver: Driver
  beforeAll(() => {
    driver = driverOf(tier)
  })
  afterAll(() => driver.clear())

  it("arguments, variables and directory arrive as they are, whatever they hold", async () => {
    const hostile = ["$(id)", "`id`", "a b", "'\"", "--", "-x", "line\nline", "é\u{1f600}", "", "A=B", "*"]
    const config = {
      entrypoint: ["node", "/app/server.cjs"],
      cmd: hostile,
      env: ["FROM_IMAGE=image", "BOTH=image", "npm_config_//x/:_y=z"],
      workingDir: "/some/new place",
      user: ""
    }
    const env = {
      BOTH: "spec",
      "WITH SPACE": "x",
      MULTI: "-----BEGIN\n$(id)\n'",
      "-i": "dash",
      LD_PRELOAD: "",
      EMPTY: ""
    }
    const self = await about(await up(driver, specOf("hostile", { config, env })))
    expect(self.argv).toEqual(hostile)
    expect(self.env).toMatchObject({ ...env, FROM_IMAGE: "image", "npm_config_//x/:_y": "z" })
    expect(self.cwd).toBe("/some/new place")
    expect(self.hostname).toBe("hostile")
  })

  it("a variable that steers the loader steers nothing of ours", async () => {
    const env = {
      LD_PRELOAD: "/app/evil.so",
      LD_LIBRARY_PATH: "/app",
      BASH_ENV: "/app/evil",
      ENV: "/app/evil",
      NODE_OPTIONS: ""
    }
    const self = await about(await up(driver, specOf("preload", { env })))
    expect(self.env).toMatchObject(env)
    expect((await driver.lines("preload", 1))[0]?.text).toMatch(/evil\.so|listening/)
  })

  it.each([["1000:1001", 1000, 1001], ["node", 1000, 1001], ["1234", 1234, 0], ["node:root", 1000, 0], ["", 0, 0]])(
    "the image's user %j",
    async (user, uid, gid) => {
      const name = `user-${user.replace(/\W/g, "-")}.`
      const spec = specOf(name)
      const state = await up(driver, specOf(name, { config: { ...spec.config, user, workingDir: "/data" } }))
      expect(await about(state)).toMatchObject({ uid, gid })
      const { enforces } = await driver.info()
      const wrote = await run(state, ["sh", "-c", "echo x >/data/x && cat /data/x"])
      if (enforces.includes("copy-on-write root")) expect(wrote.stdout).toBe("x\n")
      await driver.destroy(name)
    }
  )
})

describe("what is refused before anything is made", () => {
  const driver = driverOf("util-linux")
  afterAll(() => driver.clear())
  const config = specOf("x").config

  it.each([
    ["a name that is a path", specOf("../up")],
    ["an empty name", specOf("")],
    ["a hidden name", specOf(".hidden")],
    ["a name with a newline", specOf("a\nb")],
    ["a name over 100 characters", specOf("a".repeat(101))],
    ["an owner with a newline", specOf("x", { owner: "a\nb" })],
    ["no command", specOf("x", {}, [])],
    ["a NUL byte in the command", specOf("x", {}, ["a\0b"])],
    ["a NUL byte in a variable", specOf("x", { env: { A: "a\0b" } })],
    ["an equals sign in a variable's name", specOf("x", { env: { "A=B": "c" } })],
    ["an empty variable name", specOf("x", { env: { "": "c" } })],
    ["a variable beyond what the kernel takes", specOf("x", { env: { A: "x".repeat(131_072) } })],
    ["an environment that is not NAME=value", specOf("x", { config: { ...config, env: ["NAME"] } })],
    ["a relative working directory", specOf("x", { config: { ...config, workingDir: "app" } })],
    ["a relative root", specOf("x", { rootfs: "etc" })],
    ["a root that is not there", specOf("x", { rootfs: "/no/such/root" })],
    ["an unknown user", specOf("x", { config: { ...config, user: "nobody-here" } })],
    ["an unknown group", specOf("x", { config: { ...config, user: "0:nobody-here" } })],
    ["port 0", specOf("x", { port: 0 })],
    ["memory below 16 MiB", specOf("x", { memoryMb: 1 })]
  ])("%s", async (_, spec) => {
    await expect(driver.provision(spec)).rejects.toMatchObject({ message: expect.stringMatching(/\w/) as unknown })
    expect(await driver.list()).toEqual([])
  })
})
