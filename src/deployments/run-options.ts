import { type ImageConfig } from "#src/machines/Machines.ts"
import { NodeChoice } from "#src/packages/machine-node.ts"
import { shimProgram } from "#src/packages/package-image.ts"
import { type Package } from "#src/packages/Package.ts"
import { isPackage, parsePackage } from "#src/packages/reference.ts"
import { Invalid } from "#src/shared/Failure.ts"
import { List, optional, Text } from "#src/shared/text.ts"
import { Either, Option, Schema } from "effect"

const Argument = Text(8_192)
const Args = List(Argument).pipe(
  Schema.maxItems(100),
  Schema.annotations({ description: "Arguments of the program, instead of the image's own (CMD)" })
)
const Command = Text(1_024).pipe(
  Schema.minLength(1),
  Schema.annotations({
    description: "Of a package with several programs the one to run; of an image the program in place of its ENTRYPOINT"
  })
)
const Transport = Schema.Literal("stdio", "http").annotations({
  description: "How a package's program speaks MCP: stdio (default), or http when it listens on PORT by itself"
})
const Processes = Schema.Literal("session", "shared").annotations({
  description: "Processes of a package with stdio: one for each MCP session (default), or one shared by all"
})

const PackageScripts = Schema.Boolean.annotations({
  description:
    "Whether the install scripts of an npm package and of what it needs are run, in the sandbox, into its image; " +
    "false by default"
})

const FreshDependencies = Schema.Boolean.annotations({
  description:
    "Whether what a package needs is resolved anew; false, the default: a version that served on this server before " +
    "is installed with exactly what it had then"
})

/** How the program of an image is made and run: what a caller may say. */
export const runFields = {
  args: optional(Args),
  command: optional(Command),
  transport: optional(Transport),
  processes: optional(Processes),
  packageScripts: optional(PackageScripts),
  node: optional(NodeChoice),
  freshDependencies: optional(FreshDependencies)
}

/** The same as a deployment keeps and shows it; null where nothing was said. */
export const storedRunFields = {
  args: Schema.NullOr(Schema.Array(Schema.String)),
  command: Schema.NullOr(Schema.String),
  transport: Schema.NullOr(Transport),
  processes: Schema.NullOr(Processes),
  packageScripts: PackageScripts,
  node: Schema.NullOr(NodeChoice),
  freshDependencies: FreshDependencies
}
export type RunOptions = Schema.Struct.Type<typeof storedRunFields>

export const stored = (input: Schema.Struct.Type<typeof runFields>): RunOptions => ({
  args: input.args ?? null,
  command: input.command ?? null,
  transport: input.transport ?? null,
  processes: input.processes ?? null,
  packageScripts: input.packageScripts ?? false,
  node: input.node ?? null,
  freshDependencies: input.freshDependencies ?? false
})

/** What is refused before a deployment begins; none for what can be run. */
export const refusal = (
  imageUri: string,
  { freshDependencies, node, packageScripts, processes, transport }: RunOptions
): Option.Option<Invalid> => {
  if (packageScripts && !imageUri.startsWith("npm:")) {
    return Option.some(Invalid.field(
      "packageScripts",
      isPackage(imageUri)
        ? "is for packages of npm: of PyPI only wheels are installed, which have no install scripts"
        : "is for packages of npm (npm:…): nothing is installed into an image"
    ))
  }
  if (node !== null && !imageUri.startsWith("npm:")) {
    return Option.some(Invalid.field("node", "is for packages of npm (npm:…): it is the Node.js that they run on"))
  }
  if (isPackage(imageUri)) {
    return processes !== null && transport === "http"
      ? Option.some(Invalid.field("processes", "is for packages with the transport stdio"))
      : Option.map(Either.getLeft(parsePackage(imageUri)), (message) => Invalid.field("imageUri", message))
  }
  if (freshDependencies) {
    return Option.some(
      Invalid.field("freshDependencies", "is for packages (npm:… or pypi:…): an image has all it needs")
    )
  }
  const [field] = [transport === null ? [] : ["transport"], processes === null ? [] : ["processes"]].flat()
  return Option.map(
    Option.fromNullable(field),
    (name) => Invalid.field(name, "is for packages (npm:… or pypi:…): an image serves HTTP by itself")
  )
}

/** Why a package can't be run as it was asked for; undefined when it can. */
export const programProblem = ({ main, name, programs }: Package, command: string | null): string | undefined => {
  const list = programs.join(", ")
  if (command === null) {
    return main === null
      ? `${name} has several programs; say which with command: ${list}`
      : undefined
  }
  return programs.includes(command) ? undefined : `${name} has no program of this name (command); it has: ${list}`
}

/** Megabytes that one process of a package takes, and those of what serves it over HTTP. */
const perProcess = 64
const shim = 64
/** A machine may have 256 threads, and a Node has 11. */
const most = 16

/** How many processes a machine of this size has room for. */
export const sessionsIn = (memoryMb: number) => Math.min(most, Math.max(1, Math.floor((memoryMb - shim) / perProcess)))

/** The image's configuration as this deployment runs it: `command` replaces its ENTRYPOINT and CMD, `args` its CMD. */
export const runConfig = (
  config: ImageConfig,
  imageUri: string,
  { args, command, processes, transport }: RunOptions,
  memoryMb: number
): ImageConfig => {
  if (!isPackage(imageUri)) {
    // An image that berth deploy made of a folder: it serves stdio as packages do.
    if (command === null && config.entrypoint.at(-1) === shimProgram) {
      return { ...config, cmd: [`--sessions=${sessionsIn(memoryMb)}`, ...args === null ? config.cmd : ["--", ...args]] }
    }
    if (command === null) return args === null ? config : { ...config, cmd: args }
    return { ...config, entrypoint: [command], cmd: args ?? [] }
  }
  const flags = { command, transport, processes, sessions: sessionsIn(memoryMb) }
  const given = Object.entries(flags).flatMap(([name, value]) => value === null ? [] : [`--${name}=${value}`])
  return { ...config, cmd: [...given, "--", ...args ?? []] }
}
