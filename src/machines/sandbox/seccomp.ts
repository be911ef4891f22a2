/** System calls by name → number on x86-64 and arm64 (kernel tables); undefined where the architecture lacks it. */
export const denied: Readonly<Record<string, readonly [x64: number | undefined, arm64: number | undefined]>> = {
  // Namespaces and mounts: the isolation itself.
  unshare: [272, 97],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_by_handle_at: [304, 265],
  name_to_handle_at: [303, 264],
  // Other processes and kernel keyrings, which know no namespace.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // Large kernel surfaces that a server does not need.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  // The host's own state.
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  syslog: [103, 116],
  quotactl: [179, 60],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  vhangup: [153, 58],
  iopl: [172, undefined],
  ioperm: [173, undefined]
}

export const CLONE_NEW_ANY = 0x7e020080
/**
 * Sockets that reach past a network namespace (vsock) or deep into the kernel (alg), and all of netlink but the
 * protocol for addresses and routes, which C libraries use.
 */
export const deniedSockets: ReadonlyArray<{ readonly family: number; readonly exceptProtocol?: number }> = [
  { family: 38 },
  { family: 40 },
  { family: 16, exceptProtocol: 0 }
]
const EPERM = 1
const ENOSYS = 38

const machines = {
  x64: { audit: 0xc000003e, index: 0, clone: 56, clone3: 435, socket: 41 },
  arm64: { audit: 0xc00000b7, index: 1, clone: 220, clone3: 435, socket: 198 }
} as const

const LOAD = 0x20
const JEQ = 0x15
const JSET = 0x45
const JGE = 0x35
const RETURN = 0x06
const ALLOW = 0x7fff0000
const KILL = 0x80000000
const errno = (code: number) => 0x00050000 | code

/**
 * The list as a classic BPF program over `struct seccomp_data` (seccomp(2)): number at 0, architecture at 4, the low
 * halves of the arguments at 16, 24, 32; the kernel ignores the upper halves of int arguments.
 * Undefined on an architecture whose numbers are not listed here.
 */
export const seccompProgram = (machine: string = process.arch): Uint8Array | undefined => {
  const table = machine === "x64" ? machines.x64 : machine === "arm64" ? machines.arm64 : undefined
  if (table === undefined) return undefined
  const program: Array<readonly [code: number, jt: number, jf: number, k: number]> = [
    [LOAD, 0, 0, 4],
    [JEQ, 1, 0, table.audit],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, 0]
  ]
  // The x32 calling convention has other numbers for the same calls, all with this bit.
  if (machine === "x64") program.push([JGE, 0, 1, 0x40000000], [RETURN, 0, 0, KILL])
  for (const numbers of Object.values(denied)) {
    const number = numbers[table.index]
    if (number !== undefined) program.push([JEQ, 0, 1, number], [RETURN, 0, 0, errno(EPERM)])
  }
  // clone3 hides its flags behind a pointer; ENOSYS makes a C library fall back to clone.
  program.push([JEQ, 0, 1, table.clone3], [RETURN, 0, 0, errno(ENOSYS)])
  program.push([JEQ, 0, 4, table.clone], [LOAD, 0, 0, 16], [JSET, 0, 1, CLONE_NEW_ANY], [RETURN, 0, 0, errno(EPERM)])
  program.push([RETURN, 0, 0, ALLOW])
  program.push([JEQ, 1, 0, table.socket], [RETURN, 0, 0, ALLOW])
  for (const { exceptProtocol, family } of deniedSockets) {
    program.push([LOAD, 0, 0, 16], [JEQ, 0, exceptProtocol === undefined ? 1 : 3, family])
    if (exceptProtocol !== undefined) program.push([LOAD, 0, 0, 32], [JEQ, 1, 0, exceptProtocol])
    program.push([RETURN, 0, 0, errno(EPERM)])
  }
  program.push([RETURN, 0, 0, ALLOW])
  const bytes = new DataView(new ArrayBuffer(program.length * 8))
  program.forEach(([code, jt, jf, k], i) => {
    bytes.setUint16(i * 8, code, true)
    bytes.setUint8(i * 8 + 2, jt)
    bytes.setUint8(i * 8 + 3, jf)
    bytes.setUint32(i * 8 + 4, k, true)
  })
  return new Uint8Array(bytes.buffer)
}
