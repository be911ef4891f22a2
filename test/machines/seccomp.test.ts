import { denied, deniedSockets, seccompProgram } from "#src/machines/sandbox/seccomp.ts"
import { FastCheck } from "effect"
import { describe, expect, it } from "vitest"

const processors = [
  { name: "x64", own: 0, audit: 0xc000003e, clone: 56, socket: 41 },
  { name: "arm64", own: 1, audit: 0xc00000b7, clone: 220, socket: 198 }
] as const

const clone3 = 435
const outcomes: Readonly<Record<number, string>> = {
  0x7fff0000: "allow",
  0x80000000: "kill",
  0x00050001: "EPERM",
  0x00050026: "ENOSYS"
}

/** What the kernel makes of a call: classic BPF over `struct seccomp_data` (seccomp(2)), little-endian. */
const decide = (program: Uint8Array, audit: number, number: number, args: ReadonlyArray<bigint> = []) => {
  const data = new DataView(new ArrayBuffer(64))
  data.setInt32(0, number, true)
  data.setUint32(4, audit, true)
  args.forEach((value, i) => data.setBigUint64(16 + i * 8, BigInt.asUintN(64, value), true))
  const code = new DataView(program.buffer, program.byteOffset, program.byteLength)
  let accumulator = 0
  for (let at = 0; at < program.length; at += 8) {
    const [jt, jf, k] = [code.getUint8(at + 2), code.getUint8(at + 3), code.getUint32(at + 4, true)]
    const jump = (holds: boolean) => void (at += 8 * (holds ? jt : jf))
    const operation = code.getUint16(at, true)
    if (operation === 0x20) accumulator = data.getUint32(k, true)
    else if (operation === 0x15) jump(accumulator === k)
    else if (operation === 0x35) jump(accumulator >= k)
    else if (operation === 0x45) jump((accumulator & k) !== 0)
    else if (operation === 0x06) return outcomes[k] ?? `return ${k}`
    else throw new Error(`instruction ${operation}`)
  }
  throw new Error("the program has no end")
}

describe.each(processors)("the seccomp filter for $name", ({ audit, clone, name, own, socket }) => {
  const filter = seccompProgram(name) ?? expect.fail(`no filter for ${name}`)
  const numbers = Object.values(denied).flatMap((each) => each[own] ?? [])
  const upper = FastCheck.bigInt({ min: 0n, max: 0xffffffffn }).map((half) => half << 32n)

  it("refuses what is on the list, whatever the arguments, and clone3 as if there were none", () => {
    for (const number of numbers) expect(decide(filter, audit, number), String(number)).toBe("EPERM")
    expect(decide(filter, audit, clone3)).toBe("ENOSYS")
  })

  it("allows every other call", () => {
    const others = FastCheck.integer({ min: 0, max: 600 }).filter((number) => ![...numbers, clone3].includes(number))
    FastCheck.assert(FastCheck.property(others, (number) => decide(filter, audit, number) === "allow"))
  })

  it("kills what calls by another processor's numbers, or by another convention's", () => {
    for (const { audit: other } of processors.filter((each) => each.name !== name)) {
      expect(decide(filter, other, 0)).toBe("kill")
    }
    expect(decide(filter, 0x40000003, 0), "i386").toBe("kill")
    if (name === "x64") expect(decide(filter, audit, 0x40000000 | 39), "x32").toBe("kill")
  })

  it("refuses new namespaces by any of clone's flags, and lets threads and processes be made", () => {
    for (const flag of [0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]) {
      expect(decide(filter, audit, clone, [BigInt(flag | 17)]), flag.toString(16)).toBe("EPERM")
    }
    expect(decide(filter, audit, clone, [17n])).toBe("allow")
    expect(decide(filter, audit, clone, [0x3d0f00n])).toBe("allow")
  })

  it("refuses the sockets on the list, whatever is in the upper halves of the arguments, and allows the rest", () => {
    FastCheck.assert(
      FastCheck.property(upper, upper, FastCheck.nat(45), FastCheck.nat(21), (high, higher, family, protocol) => {
        const refused = deniedSockets.some((one) =>
          one.family === family && (one.exceptProtocol === undefined || one.exceptProtocol !== protocol)
        )
        const args = [high | BigInt(family), 1n, higher | BigInt(protocol)]
        return decide(filter, audit, socket, args) === (refused ? "EPERM" : "allow")
      }),
      { numRuns: 2_000 }
    )
  })
})
