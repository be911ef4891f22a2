import { makeCgroup } from "#src/machines/sandbox/cgroups.ts"
import { plainDirectory, readInside } from "#src/machines/sandbox/inside.ts"
import { keeperProgram } from "#src/machines/sandbox/launch.ts"
import { limitsOf } from "#src/machines/sandbox/limits.ts"
import { cleanLine, parseLines } from "#src/machines/sandbox/lines.ts"
import { readPage } from "#src/machines/sandbox/output.ts"
import { machineDir, openMachinePaths, socketPath } from "#src/machines/sandbox/paths.ts"
import { CLONE_NEW_ANY, denied, seccompProgram } from "#src/machines/sandbox/seccomp.ts"
import { resolveUser } from "#src/machines/sandbox/user.ts"
import { environmentOf, goodName, hostnameOf, specProblem } from "#src/machines/sandbox/validate.ts"
import { alive, identify } from "#src/shared/processes.ts"
import { FastCheck as fc } from "effect"
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { temporaryDirectory } from "../support/Settings.ts"
import { specOf } from "./support.ts"

describe("names", () => {
  it("that are taken never leave their directory, and make a host name", () => {
    const yard = openMachinePaths(temporaryDirectory("rules"))
    fc.assert(fc.property(fc.string({ maxLength: 120 }), (name) => {
      if (!goodName(name)) return
      expect(machineDir(yard, name)).toBe(`${yard.machines}/${name}`)
      expect(socketPath(yard, name).startsWith(yard.sockets)).toBe(true)
    }))
    fc.assert(fc.property(fc.string({ maxLength: 120 }), (name) => {
      expect(hostnameOf(name)).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/)
    }))
  })

  it("of sockets fit into sun_path however deep the home is, in a directory of our own", () => {
    const deep = join(temporaryDirectory("rules"), "d".repeat(100))
    const yard = openMachinePaths(deep)
    expect(Buffer.byteLength(socketPath(yard, "x".repeat(100)))).toBeLessThan(108)
    expect(statSync(yard.sockets).mode & 0o777).toBe(0o700)
    expect(openMachinePaths(deep).sockets).toBe(yard.sockets)
  })

  it("of directories that somebody planted are refused", () => {
    const home = temporaryDirectory("rules")
    symlinkSync("/tmp", join(home, "machines"))
    expect(() => openMachinePaths(home)).toThrow("belongs to someone else")
  })
})

describe("environments", () => {
  it("are the image's under the server's, PORT always ours", () => {
    const spec = specOf("x", { env: { PORT: "1", A: "server" } })
    const env = environmentOf({ ...spec, config: { ...spec.config, env: ["A=image", "B=x=y"] } }, "/root")
    expect([env.get("A"), env.get("B"), env.get("PORT"), env.get("HOME")]).toEqual(["server", "x=y", "3000", "/root"])
  })

  it("of any text are taken or refused with a sentence, never thrown at", () => {
    fc.assert(fc.property(fc.dictionary(fc.string(), fc.string()), fc.array(fc.string()), (env, cmd) => {
      const spec = specOf("x", { env })
      const problem = specProblem({ ...spec, config: { ...spec.config, cmd } })
      const bad = [...Object.entries(env).flat(), ...cmd].some((text) => text.includes("\0")) ||
        Object.keys(env).some((name) => name === "" || name.includes("="))
      expect(problem === undefined).toBe(!bad)
    }))
  })
})

describe("an image's own files", () => {
  const rootfs = mkdtempSync(join(tmpdir(), "berth-test-hostile-"))
  mkdirSync(join(rootfs, "etc"))
  mkdirSync(join(rootfs, "home/real"), { recursive: true })
  symlinkSync("/etc", join(rootfs, "linked"))
  writeFileSync(join(rootfs, "etc/passwd"), "node:x:1000:1001::/home/real:/bin/sh\nbad:x:-1:0\nhuge:x:99999999999:0\n")
  writeFileSync(join(rootfs, "etc/group"), "staff:x:50:\n")

  it("name the user", () => {
    expect(resolveUser(rootfs, "node")).toEqual({ uid: 1000, gid: 1001, home: "/home/real" })
    expect(resolveUser(rootfs, "1000")).toEqual({ uid: 1000, gid: 1001, home: "/home/real" })
    expect(resolveUser(rootfs, "node:staff")).toMatchObject({ uid: 1000, gid: 50 })
    expect(resolveUser(rootfs, "7:8")).toEqual({ uid: 7, gid: 8, home: "/" })
    expect(resolveUser(rootfs, "")).toEqual({ uid: 0, gid: 0, home: "/" })
    for (const bad of ["bad", "huge", "missing", "node:missing", "4294967295", "-1"]) {
      expect(resolveUser(rootfs, bad)).toMatch(/^the image has no/)
    }
  })

  it("are not read, nor made, through links that lead to the host", () => {
    expect(readInside(rootfs, "linked/passwd")).toBe("")
    expect(plainDirectory(rootfs, "/linked/new")).toBe("")
    expect(plainDirectory(rootfs, "/linked")).toBe("")
    expect(plainDirectory(rootfs, "/home/../../etc")).toBe("")
    expect(plainDirectory(rootfs, "/home/real")).toBe("home/real")
    expect(plainDirectory(rootfs, "/home/./new//deep")).toBe("home/new/deep")
    const other = mkdtempSync(join(tmpdir(), "berth-test-hostile-"))
    symlinkSync("/etc", join(other, "etc"))
    expect(resolveUser(other, "daemon")).toMatch(/no user/)
  })
})

describe("lines", () => {
  it("are valid text without control characters, whatever the bytes", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const text = cleanLine(bytes)

      expect(text).not.toMatch(/[\0-\x08\x0a-\x1f\x7f-\x9f]/)
      expect(Buffer.from(text).toString()).toBe(text)
    }))
  })

  it("are read the same in any pieces, across files", () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-z]{0,9}$/), { minLength: 1 }), fc.nat(), (texts, cut) => {
        const dir = mkdtempSync(join(tmpdir(), "berth-test-out-"))
        const all = texts.map((text, i) => `${i % 2 + 1}${text}\n`)
        const first = all.slice(0, cut % (all.length + 1)).join("")
        const name = (offset: number) => join(dir, `out.${String(offset).padStart(15, "0")}`)
        writeFileSync(name(0), first)
        writeFileSync(name(first.length), all.slice(cut % (all.length + 1)).join(""))
        const read: Array<string> = []
        for (let at = 0, page = readPage(dir, 0); page.lines.length > 0; page = readPage(dir, at)) {
          read.push(...page.lines.map(({ text }) => text))
          at = page.next
        }
        rmSync(dir, { recursive: true })
        expect(read).toEqual(texts)
      }),
      { numRuns: 50 }
    )
  })

  it("that are not ended yet are left for later", () => {
    expect(parseLines(Buffer.from("1done\n2not"), 10)).toEqual([{ offset: 16, stream: "stdout", text: "done" }])
  })
})

describe("limits", () => {
  it("are written to a version 2 tree", () => {
    const root = temporaryDirectory("cgroup")
    mkdirSync(join(root, "berth/x"), { recursive: true })
    writeFileSync(join(root, "berth/x/memory.swap.max"), "max")
    const doors = makeCgroup({ version: 2, root }, "berth/x", limitsOf({ cpu: "shared-2x", memoryMb: 256 }))
    const value = (file: string) => readFileSync(join(root, "berth/x", file), "utf8")
    expect(doors).toEqual([join(root, "berth/x/cgroup.procs")])
    expect(["memory.max", "memory.swap.max", "pids.max", "cpu.max", "cpu.weight"].map(value)).toEqual([
      String(256 * 1024 * 1024),
      "0",
      "256",
      "200000 100000",
      "100"
    ])
  })
})

describe("processes", () => {
  it("are the same only with the same start", () => {
    const self = identify(process.pid) ?? expect.fail("no such process")
    expect(alive(self)).toBe(true)
    expect(alive({ ...self, start: "1" })).toBe(false)
    expect(alive({ ...self, boot: "another" })).toBe(false)
  })
})

/** Runs a classic BPF program the way the kernel does, for the instructions ours uses. */
const verdict = (program: Uint8Array, call: { number: number; arch: number; arg0?: number; arg2?: number }) => {
  const view = new DataView(program.buffer)
  const data = new Map([[0, call.number], [4, call.arch], [16, call.arg0 ?? 0], [32, call.arg2 ?? 0]])
  for (let at = 0, a = 0;; at++) {
    const [code, jt, jf] = [view.getUint16(at * 8, true), view.getUint8(at * 8 + 2), view.getUint8(at * 8 + 3)]
    const k = view.getUint32(at * 8 + 4, true)
    if (code === 0x06) return k
    if (code === 0x20) a = data.get(k) ?? expect.fail(`loads ${k}`)
    else at += (code === 0x15 ? a === k : code === 0x35 ? a >= k : (a & k) !== 0) ? jt : jf
  }
}

describe.each([["x64", 0, 0xc000003e, 56, 41], ["arm64", 1, 0xc00000b7, 220, 198]] as const)(
  "the system call filter on %s",
  (machine, index, arch, clone, socket) => {
    const program = seccompProgram(machine) ?? expect.fail("no program")
    const ALLOW = 0x7fff0000
    const EPERM = 0x00050001

    it("refuses exactly the listed calls", () => {
      const listed = new Set(Object.values(denied).map((numbers) => numbers[index]))
      for (let number = 0; number < 470; number++) {
        const expected = number === 435 ? 0x00050026 : listed.has(number) ? EPERM : ALLOW
        expect(verdict(program, { number, arch }), String(number)).toBe(expected)
      }
    })

    it("refuses namespaces made by clone, but not threads and processes", () => {
      fc.assert(fc.property(fc.integer({ min: 0, max: 0x7fffffff }), (flags) => {
        expect(verdict(program, { number: clone, arch, arg0: flags })).toBe(
          (flags & CLONE_NEW_ANY) === 0 ? ALLOW : EPERM
        )
      }))
      expect(verdict(program, { number: clone, arch, arg0: 0x3d0f00 })).toBe(ALLOW)
    })

    it("refuses the socket families that reach past the network namespace", () => {
      expect([1, 2, 10, 16].map((arg0) => verdict(program, { number: socket, arch, arg0 }))).toEqual([
        ALLOW,
        ALLOW,
        ALLOW,
        ALLOW
      ])
      expect([38, 40].map((arg0) => verdict(program, { number: socket, arch, arg0 }))).toEqual([EPERM, EPERM])
      const netlink = [0, 9, 12, 16].map((arg2) => verdict(program, { number: socket, arch, arg0: 16, arg2 }))
      expect(netlink, "routes, audit, netfilter, generic").toEqual([ALLOW, EPERM, EPERM, EPERM])
    })

    it("kills a process that calls by another architecture's numbers", () => {
      expect(verdict(program, { number: 1, arch: 0x40000003 })).toBe(0x80000000)
      if (machine === "x64") expect(verdict(program, { number: 0x40000000 + 165, arch })).toBe(0x80000000)
    })
  }
)

it("an unknown architecture has no filter rather than a wrong one", () => {
  expect(seccompProgram("riscv64")).toBeUndefined()
})

it("the keeper's program stands alone", () => {
  const path = join(temporaryDirectory("rules"), "keeper.cjs")
  writeFileSync(path, keeperProgram)
  execFileSync(process.execPath, ["--check", path])
  expect(keeperProgram).not.toMatch(/__vi_|import_|_interop/)
})
