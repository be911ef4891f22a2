import { base, failure, offsets, processors, refusal } from "./seal-code.ts"
import { seccompProgram } from "./seccomp.ts"

const HEADER = 64
const SEGMENT = 56

/**
 * A static program that closes all descriptors from 4 up, loads our seccomp filter, and runs its arguments: the
 * last step before a machine's own code where nothing else loads filters
 * (docs/decisions/seccomp-by-a-program-of-ours.md). Generated here, since setpriv loads filters only from util-linux
 * 2.40 on. Undefined for other processors.
 */
export const sealProgram = (machine: string = process.arch): Uint8Array | undefined => {
  const filter = seccompProgram(machine)
  const processor = machine === "x64" || machine === "arm64" ? processors[machine] : undefined
  if (filter === undefined || processor === undefined) return undefined
  const size = offsets.filter + filter.length
  const bytes = new Uint8Array(size)
  const view = new DataView(bytes.buffer)
  const u16 = (at: number, value: number) => view.setUint16(at, value, true)
  const u32 = (at: number, value: number) => view.setUint32(at, value, true)
  const u64 = (at: number, value: number) => view.setBigUint64(at, BigInt(value), true)

  // elf(5): 64 bits, little-endian, an executable at fixed addresses.
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1])
  u16(16, 2)
  u16(18, processor.elf)
  u32(20, 1)
  u64(24, base + offsets.code)
  u64(32, HEADER)
  u16(52, HEADER)
  u16(54, SEGMENT)
  u16(56, 2)
  // PT_LOAD: the whole file, to be read and executed. The alignment is that of the largest pages of arm64.
  u32(HEADER, 1)
  u32(HEADER + 4, 5)
  u64(HEADER + 16, base)
  u64(HEADER + 24, base)
  u64(HEADER + 32, size)
  u64(HEADER + 40, size)
  u64(HEADER + 48, 0x10000)
  // PT_GNU_STACK: read and write; without it the stack could be executed.
  u32(HEADER + SEGMENT, 0x6474e551)
  u32(HEADER + SEGMENT + 4, 6)
  u64(HEADER + SEGMENT + 48, 16)

  // struct sock_fprog (seccomp(2)): how many instructions of 8 bytes, and where.
  u16(offsets.program, filter.length / 8)
  u64(offsets.program + 8, base + offsets.filter)
  bytes.set(processor.code, offsets.code)
  bytes.set(refusal, offsets.refusal)
  bytes.set(failure, offsets.failure)
  bytes.set(filter, offsets.filter)
  return bytes
}
