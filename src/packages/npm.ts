import { type ImageError, imageError, storageError } from "#src/images/ImageError.ts"
import { Effect } from "effect"
import { existsSync, realpathSync } from "node:fs"
import { mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { npmComplaint } from "./npm-complaint.ts"
import { readNpmLock } from "./npm-lock.ts"
import { type Locked } from "./Package.ts"
import { type PackageReference, requirement } from "./reference.ts"
import { runInstaller } from "./run-installer.ts"

export interface NpmOptions {
  /** A folder that npm may fill. */
  readonly folder: string
  /** The registry's URL, no trailing slash. */
  readonly registry: string
  readonly proxy: string
  /** The Node on which what is installed will run, such as "24.1.0": npm chooses versions by it, as it does by its own. */
  readonly node: string
  /** A file with certificates to trust besides Node's own. */
  readonly certificates: string | undefined
}

const program = "bin/npm-cli.js"

/** The folder of the npm that was installed with this Node. */
export const findNpm = Effect.suspend(() => {
  const node = dirname(realpathSync(process.execPath))
  const places = [join(node, "../lib/node_modules/npm"), "/usr/share/nodejs/npm", "/usr/lib/node_modules/npm"]
  const found = places.find((place) => existsSync(join(place, program)))
  return found === undefined
    ? imageError("unsupported", "this host has no npm beside its Node.js: its operator installs npm")
    : Effect.succeed(realpathSync(found))
})

const major = Number(process.versions.node.split(".")[0])

/** Node's permission model: files outside the folder can't be written, no process can be started. */
const permissions = (npm: string, { certificates, folder }: NpmOptions) => [
  major >= 24 ? "--permission" : "--experimental-permission",
  ...major >= 25 ? ["--allow-net"] : [],
  // Without a slash, so that the folder itself is meant too: its name is random, and begins no other.
  ...[`${npm}/*`, `${folder}*`, ...certificates === undefined ? [] : [certificates]].map((path) =>
    `--allow-fs-read=${path}`
  ),
  `--allow-fs-write=${folder}*`
]

/** npm takes `process.version` for the Node of what it installs. */
const asNode = (version: string) =>
  `--import=data:text/javascript,Object.defineProperty(process,"version",{value:"v${version}"})`

const runNpm = Effect.fnUntraced(function*(options: NpmOptions, args: ReadonlyArray<string>) {
  const { certificates, folder, proxy, registry } = options
  const npm = yield* findNpm
  const settings = {
    registry: `${registry}/`,
    proxy,
    "https-proxy": proxy,
    noproxy: "",
    cache: join(folder, "cache"),
    // Neither exists: nothing of the host's configuration counts.
    userconfig: join(folder, "npmrc"),
    globalconfig: join(folder, "npmrc-global"),
    git: "/nonexistent",
    "replace-registry-host": "never",
    "fetch-retries": "2",
    "fetch-timeout": "60000",
    loglevel: "warn",
    "logs-max": "0",
    omit: "dev"
  }
  const flags = ["ignore-scripts", "no-audit", "no-fund", "no-bin-links", "no-update-notifier", "no-progress"]
  return yield* runInstaller({
    name: "npm",
    program: process.execPath,
    args: [
      "--no-warnings",
      "--max-old-space-size=768",
      ...permissions(npm, options),
      asNode(options.node),
      join(npm, program),
      ...args,
      ...flags.map((flag) => `--${flag}`),
      ...Object.entries(settings).map(([name, value]) => `--${name}=${value}`)
    ],
    cwd: folder,
    env: {
      PATH: "/nonexistent",
      HOME: folder,
      NODE_ENV: "production",
      ...certificates === undefined ? {} : { NODE_EXTRA_CA_CERTS: certificates }
    }
  }).pipe(Effect.mapError((error) => imageError(error.reason, npmComplaint(error.message, registry))))
})

const files = <A>(work: () => Promise<A>) =>
  Effect.tryPromise({ try: work, catch: storageError("Installing a package") })

const manifestOf = (name: string, version: string) =>
  JSON.stringify({ name: "berth-package", private: true, dependencies: { [name]: version } })

/** What a version asks for that its machine is not, as npm warns of it (EBADENGINE); undefined when it fits. */
export const misfit = (said: string, name: string, version: string): string | undefined =>
  said.replaceAll(/^npm (?:warn|WARN) EBADENGINE +/gm, "").split(`package: '${name}@${version}',`)[1]
    ?.match(/^\s*required: \{[^}]*\bnode: '([^']{1,100})'/)?.[1]

/**
 * Resolves a package and everything that it needs to exact versions, as npm does: where no version is asked for the
 * newest that runs on the machine's Node. Installs nothing.
 */
export const lockNpm = Effect.fn("packages.lockNpm")(function*(options: NpmOptions, reference: PackageReference) {
  const { folder, registry } = options
  const { name } = reference
  yield* files(() => writeFile(join(folder, "package.json"), manifestOf(name, reference.wanted || "*")))
  const said = yield* runNpm(options, ["install", "--package-lock-only"])
  const lock = yield* files(() => readFile(join(folder, "package-lock.json"), "utf8"))
  const { lacking, packages, pinned, version, withScripts } = yield* readNpmLock(lock, name, new URL(registry).origin)
  const wants = misfit(said, name, version)
  return {
    name,
    version,
    lock: pinned,
    notes: [
      `${requirement(reference)} is version ${version}, with ${packages - 1} other packages`,
      ...lacking.length === 0
        ? []
        : [`left out, as they are optional and the registry lacks them: ${lacking.join(", ")}`],
      ...wants === undefined ? [] : [
        `${name} ${version} asks for Node ${wants}, and its machine has ${options.node}: deploy it with another node, or ` +
        "another version"
      ]
    ],
    withScripts
  } satisfies Locked
})

/** Installs exactly what the lock says into `node_modules` of the folder; tells which packages have install scripts. */
export const installNpm = Effect.fn("packages.installNpm")(
  function*(options: NpmOptions, { lock, name, version }: Locked) {
    const { folder, registry } = options
    const { withScripts } = yield* readNpmLock(lock, name, new URL(registry).origin)
    yield* files(async () => {
      await rm(join(folder, "node_modules"), { recursive: true, force: true })
      await mkdir(folder, { recursive: true })
      await writeFile(join(folder, "package.json"), manifestOf(name, version))
      await writeFile(join(folder, "package-lock.json"), lock)
    })
    yield* runNpm(options, ["ci"])
    return withScripts
  }
) satisfies (options: NpmOptions, locked: Locked) => Effect.Effect<ReadonlyArray<string>, ImageError>
