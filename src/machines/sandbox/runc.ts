import { CLONE_NEW_ANY, denied, deniedSockets } from "./seccomp.ts"
import { type Prepared, procParts, type Tier } from "./Tier.ts"

const architectures: Readonly<Record<string, string>> = { x64: "SCMP_ARCH_X86_64", arm64: "SCMP_ARCH_AARCH64" }

/** The kernel reads only the lower half of an int argument; libseccomp compares all of it unless masked. */
const isInt = (index: number, valueTwo: number) => ({ index, value: 0xffffffff, valueTwo, op: "SCMP_CMP_MASKED_EQ" })

const seccomp = () => {
  const own = architectures[process.arch]
  if (own === undefined) return undefined
  const deny = { action: "SCMP_ACT_ERRNO", errnoRet: 1 }
  return {
    defaultAction: "SCMP_ACT_ALLOW",
    // Calls by any other architecture's numbers kill the process.
    architectures: [own],
    syscalls: [
      { ...deny, names: Object.keys(denied) },
      { ...deny, names: ["clone3"], errnoRet: 38 },
      // Masked: any namespace flag at all. One rule for each flag, so that one match is enough.
      ...Array.from({ length: 31 }, (_, bit) => 2 ** bit).filter((flag) => (CLONE_NEW_ANY & flag) !== 0).map((
        flag
      ) => ({
        ...deny,
        names: ["clone"],
        args: [{ index: 0, value: flag, valueTwo: flag, op: "SCMP_CMP_MASKED_EQ" }]
      })),
      ...deniedSockets.map(({ exceptProtocol, family }) => ({
        ...deny,
        names: ["socket"],
        args: [
          isInt(0, family),
          ...(exceptProtocol === undefined ? [] : [{ index: 2, value: exceptProtocol, op: "SCMP_CMP_NE" }])
        ]
      }))
    ]
  }
}

const tmpfs = (destination: string, size: number, mode: string) => ({
  destination,
  type: "tmpfs",
  source: "tmpfs",
  options: ["nosuid", "nodev", `mode=${mode}`, `size=${size}`]
})

/** `config.json` of the OCI runtime specification 1.0. The network namespace is the keeper's, hence not listed. */
const bundle = (machine: Prepared) => {
  const { cgroup, limits, user } = machine
  return {
    ociVersion: "1.0.2",
    process: {
      terminal: false,
      user: { uid: user.uid, gid: user.gid },
      args: machine.argv,
      env: [...machine.env].map(([name, value]) => `${name}=${value}`),
      cwd: machine.workingDir,
      capabilities: { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] },
      noNewPrivileges: true,
      rlimits: [
        { type: "RLIMIT_NOFILE", hard: limits.files, soft: limits.files },
        { type: "RLIMIT_CORE", hard: 0, soft: 0 }
      ]
    },
    root: { path: machine.root, readonly: machine.readOnly },
    hostname: machine.hostname,
    mounts: [
      { destination: "/proc", type: "proc", source: "proc", options: ["nosuid", "nodev", "noexec"] },
      { ...tmpfs("/dev", 65536, "755"), options: ["nosuid", "noexec", "mode=755", "size=65536"] },
      tmpfs("/dev/shm", limits.scratchBytes, "1777"),
      tmpfs("/tmp", limits.scratchBytes, "1777")
    ],
    linux: {
      namespaces: ["pid", "ipc", "uts", "mount", "cgroup"].map((type) => ({ type })),
      maskedPaths: [...procParts.emptyFiles, ...procParts.emptyDirectories].map((name) => `/proc/${name}`),
      readonlyPaths: procParts.readOnly.map((name) => `/proc/${name}`),
      ...(cgroup === undefined ? {} : {
        cgroupsPath: `/${cgroup}`,
        resources: {
          devices: [{ allow: false, access: "rwm" }],
          memory: { limit: limits.memoryBytes, swap: limits.memoryBytes },
          cpu: { quota: limits.cpus * 100_000, period: 100_000, shares: limits.shares },
          pids: { limit: limits.pids }
        }
      }),
      seccomp: seccomp()
    }
  }
}

/** runc ≥ 1.0 as root. */
export const runc: Tier = {
  name: "runc",
  userNamespace: false,
  ownCgroup: true,
  depth: 1,
  isInit: true,
  programs: ["runc"],
  command: (machine) => ({
    argv: ["runc", "--root", `${machine.dir}/runc`, "run", "--bundle", `${machine.dir}/bundle`, machine.hostname],
    files: { "bundle/config.json": JSON.stringify(bundle(machine)) },
    inputs: []
  })
}
