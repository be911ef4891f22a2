import { sealProgram } from "#src/machines/sandbox/seal.ts"
import { execFileSync, spawnSync, type StdioOptions } from "node:child_process"
import { chmodSync, closeSync, mkdirSync, openSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { describeWhen, missingProgram } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"

const folder = temporaryDirectory("seal")
chmodSync(folder, 0o755)

const write = (name: string, bytes: Uint8Array) => {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, name)
  writeFileSync(path, bytes, { mode: 0o755 })
  return path
}

const programFor = (processor: "x64" | "arm64") =>
  write(processor, sealProgram(processor) ?? expect.fail(`no program for ${processor}`))

const missing = process.platform !== "linux"
  ? "Linux only"
  : sealProgram() === undefined
  ? `there is no program for ${process.arch}`
  : missingProgram("setpriv")

/** Where no process may gain privileges, as in a machine: the kernel takes a filter from nobody else but root. */
const sealed = (argv: ReadonlyArray<string>, stdio: StdioOptions = "pipe", env = process.env) =>
  spawnSync("setpriv", ["--no-new-privs", "--", programFor(process.arch as "x64"), ...argv], {
    encoding: "utf8",
    stdio,
    env
  })

it("there is none for a processor whose code we don't have", () => {
  expect(sealProgram("riscv64")).toBeUndefined()
})

describeWhen(missing, "the program that seals a machine", () => {
  it("runs its arguments as they are, in its environment, behind the filter", () => {
    const script = `grep Seccomp: /proc/self/status; printf '%s|' "$@" "$TOLD"; exit 5`
    const { status, stdout } = sealed(["/bin/sh", "-c", script, "sh", "a b", "", "*"], "pipe", { TOLD: "as told" })
    expect(stdout).toBe("Seccomp:\t2\na b||*|as told|")
    expect(status).toBe(5)
  })

  it("closes whatever is open beside stdio and descriptor 3", () => {
    const root = openSync("/", "r")
    const stdio: StdioOptions = ["ignore", "pipe", "pipe", root, root, ...Array<"ignore">(72).fill("ignore"), root]
    const list = `for fd in 3 4 77; do [ -e /proc/self/fd/$fd ] && echo $fd; done`
    const { stdout } = sealed(["/bin/sh", "-c", list], stdio)
    closeSync(root)
    expect(stdout).toBe("3\n")
  })

  it("ends with 127 and says so when there is nothing to run", () => {
    for (const argv of [[], ["/no/such/program"]]) {
      const { status, stderr } = sealed(argv)
      expect(status).toBe(127)
      expect(stderr).toBe("The machine's own shell can't be run\n")
    }
  })

  it("runs nothing when the kernel refuses the filter: it ends with 126 and says so", () => {
    // Without "no new privileges" the kernel takes a filter from root alone.
    const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
    const { status, stderr, stdout } = spawnSync(programFor(process.arch as "x64"), ["/bin/echo", "it ran"], {
      encoding: "utf8",
      ...nobody
    })
    expect([status, stdout]).toEqual([126, ""])
    expect(stderr).toBe("The kernel refuses the seccomp filter of this machine\n")
  })
})

/** The instructions at the program's start, as binutils reads them. */
const disassembled = (file: string) => {
  const range = ["--adjust-vma=0x400000", "--start-address=0x400100", "--stop-address=0x40017c"]
  const out = execFileSync("aarch64-linux-gnu-objdump", ["-D", "-b", "binary", "-m", "aarch64", ...range, file], {
    encoding: "utf8"
  })
  return [...out.matchAll(/^ +4\w{5}:\t\w{8} \t(.*)$/gm)].map(([, text = ""]) =>
    text.replace(/\s*\/\/.*/, "").replace(/\s+/g, " ").trim()
  )
}

describeWhen(
  missingProgram("aarch64-linux-gnu-objdump") ?? missingProgram("qemu-aarch64-static"),
  "its code for arm64",
  () => {
    it("is what its comments say", () => {
      expect(disassembled(programFor("arm64"))).toEqual([
        "mov x19, sp",
        ...["mov w0, #0x4", "mov w1, #0xffffffff", "mov w2, #0x0", "mov w8, #0x1b4", "svc #0x0"],
        ...["mov w0, #0x16", "mov w1, #0x2", "adr x2, 0x400200", "mov w8, #0xa7", "svc #0x0", "cbnz w0, 0x400158"],
        ...[
          "ldr x9, [x19]",
          "add x1, x19, #0x10",
          "ldr x0, [x1]",
          "add x2, x1, x9, lsl #3",
          "mov w8, #0xdd",
          "svc #0x0"
        ],
        ...["mov w19, #0x7f", "adr x1, 0x400280", "mov w2, #0x25", "b 0x400164"],
        ...["mov w19, #0x7e", "adr x1, 0x400240", "mov w2, #0x36"],
        ...["mov w0, #0x2", "mov w8, #0x40", "svc #0x0", "mov w0, w19", "mov w8, #0x5e", "svc #0x0"]
      ])
    })

    it("runs nothing when the filter is refused, as the emulator does", () => {
      const { status, stderr, stdout } = spawnSync(
        "qemu-aarch64-static",
        [programFor("arm64"), "/bin/echo", "it ran"],
        {
          encoding: "utf8"
        }
      )
      expect([status, stdout]).toEqual([126, ""])
      expect(stderr).toBe("The kernel refuses the seccomp filter of this machine\n")
    })

    it("runs its arguments in its environment once the filter is loaded", () => {
      const bytes = Uint8Array.from(sealProgram("arm64") ?? [])
      // The emulator loads no filter: here the way past its refusal is taken (cbnz becomes nop).
      new DataView(bytes.buffer).setUint32(0x12c, 0xd503201f, true)
      const run = (...argv: ReadonlyArray<string>) =>
        spawnSync("qemu-aarch64-static", [write("arm64-unfiltered", bytes), ...argv], {
          encoding: "utf8",
          env: { TOLD: "as told" }
        })
      const { status, stdout } = run("/bin/sh", "-c", `printf '%s|' "$@" "$TOLD"; exit 5`, "sh", "a b", "")
      expect([status, stdout]).toEqual([5, "a b||as told|"])
      expect(run("/no/such/program")).toMatchObject({ status: 127, stderr: "The machine's own shell can't be run\n" })
    })
  }
)
