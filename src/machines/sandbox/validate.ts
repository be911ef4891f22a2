import type { MachineFile, MachineSpec } from "#src/machines/Machines.ts"

const hasNul = (text: string) => text.includes("\0")
// MAX_ARG_STRLEN: one argument or variable longer than 32 pages makes execve fail (execve(2)).
const LONGEST = 128 * 1024 - 1
const TOTAL = 1024 * 1024

export const goodName = (name: string) => /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/.test(name)

const environmentProblem = (env: ReadonlyArray<readonly [string, string]>) => {
  for (const [name, value] of env) {
    if (name === "" || name.includes("=") || hasNul(name)) return `${JSON.stringify(name)} is not a variable name`
    if (hasNul(value)) return `the variable ${name} holds a NUL byte`
    if (Buffer.byteLength(name) + Buffer.byteLength(value) + 2 > LONGEST) return `the variable ${name} is too long`
  }
  const total = env.reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value), 0)
  return total > TOTAL ? "the environment, the image's own included, is over 1 MiB" : undefined
}

const FILES_TOTAL = 8 * 1024 * 1024

const filesProblem = (files: ReadonlyArray<MachineFile>) => {
  const invalid = files.find(({ name }) => !/^[a-z0-9][a-z0-9._-]{0,99}$/.test(name))
  if (invalid !== undefined) return `${JSON.stringify(invalid.name)} is not a file name`
  if (new Set(files.map(({ name }) => name)).size < files.length) return "two files have the same name"
  const total = files.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0)
  return total > FILES_TOTAL ? "the files are over 8 MiB" : undefined
}

/** Why the spec is invalid, or undefined. The values come from images and from users. */
export const specProblem = (spec: MachineSpec): string | undefined => {
  const argv = [...spec.config.entrypoint, ...spec.config.cmd]
  if (!goodName(spec.name)) return "the name is not 1–100 letters, digits, '_', '.' or '-'"

  if (spec.owner.length > 200 || /[\0-\x1f\x7f]/.test(spec.owner)) return "the owner holds control characters"
  if (!spec.rootfs.startsWith("/") || hasNul(spec.rootfs)) return "the root file system is not an absolute path"
  if (argv.length === 0 || argv[0] === "") return "the image says neither entrypoint nor command"
  if (argv.some(hasNul)) return "the command holds a NUL byte"
  if (argv.some((word) => Buffer.byteLength(word) > LONGEST)) return "the command is too long"
  if (hasNul(spec.config.workingDir) || !/^(\/|$)/.test(spec.config.workingDir)) {
    return "the working directory is not an absolute path"
  }
  if (spec.config.env.some((entry) => entry.indexOf("=") < 1)) return "the image's environment is not NAME=value"
  if (!Number.isInteger(spec.port) || spec.port < 1 || spec.port > 65535) return "the port is not 1–65535"
  if (!Number.isInteger(spec.memoryMb) || spec.memoryMb < 16 || spec.memoryMb > 1_048_576) {
    return "the memory is not 16–1048576 MiB"
  }
  return filesProblem(spec.files ?? []) ??
    environmentProblem([...imageEnvironment(spec.config.env), ...Object.entries(spec.env)])
}

const imageEnvironment = (entries: ReadonlyArray<string>): ReadonlyArray<readonly [string, string]> =>
  entries.map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)] as const)

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/** The whole environment of the machine's process: nothing of the platform's; later entries override earlier ones. */
export const environmentOf = (
  spec: Omit<MachineSpec, "files">,
  home: string,
  proxies: Readonly<Record<string, string>> = {}
): ReadonlyMap<string, string> => {
  const own = [...imageEnvironment(spec.config.env), ...Object.entries(spec.env)]
  // Programs read HTTP_PROXY or http_proxy: whoever sets one means both.
  const taken = new Set(own.map(([name]) => name.toLowerCase()))
  return new Map([
    ...Object.entries(proxies).filter(([name]) => !taken.has(name.toLowerCase())),
    ["PATH", PATH],
    ["HOME", home],
    ["HOSTNAME", hostnameOf(spec.name)],
    ...own,
    ["PORT", String(spec.port)]
  ])
}

/** A valid host name (RFC 1123 label, 63 octets) made of the machine's name. */
export const hostnameOf = (name: string) =>
  name.toLowerCase().replace(/[^a-z0-9-]+/g, "-").replace(/^-+/, "").slice(0, 63).replace(/-+$/, "") || "machine"
