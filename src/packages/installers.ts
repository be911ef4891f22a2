import { type Settings } from "#src/config/Settings.ts"
import { type Programs } from "#src/format/package-programs.ts"
import { type ImageError, storageError } from "#src/images/ImageError.ts"
import { type GuardedHttp } from "#src/shared/GuardedHttp.ts"
import { Effect, Either, Option } from "effect"
import { join } from "node:path"
import { type MachineNode } from "./machine-node.ts"
import { readNpmLock } from "./npm-lock.ts"
import { npmPrograms } from "./npm-programs.ts"
import { withNpmRegistry } from "./npm-registry.ts"
import { findNpm, installNpm, lockNpm, type NpmOptions } from "./npm.ts"
import { appFolder, type Contents, packageRuntime, type Runtime } from "./package-image.ts"
import { type Locked } from "./Package.ts"
import { installPypi, lockPypi } from "./pypi.ts"
import { type PypiOptions } from "./python-installer.ts"
import { findPython, pythonRuntime } from "./python.ts"
import { type PackageReference } from "./reference.ts"
import { startRegistryProxy } from "./registry-proxy.ts"
import { takeFiles } from "./script-files.ts"
import { scriptMachine } from "./script-root.ts"
import { type RunScripts } from "./scripts.ts"

interface Installed {
  readonly contents: Contents
  readonly programs: Programs
  /** Packages whose install scripts were run. */
  readonly ran: ReadonlyArray<string>
}

/** What a registry's packages need to become an image. */
export interface Installer {
  readonly lock: Effect.Effect<Locked, ImageError>
  /** Packages of a lock that was made before with install scripts; fails for one that is not of today's registry. */
  readonly scriptsOf: (locked: Pick<Locked, "lock" | "name">) => Either.Either<ReadonlyArray<string>, ImageError>
  /** With `runScripts` the install scripts of what is locked are run too, in a machine. */
  readonly install: (
    locked: Locked,
    runScripts?: RunScripts
  ) => Effect.Effect<Installed, ImageError>
  readonly runtime: Effect.Effect<Runtime, ImageError>
}

export interface Place {
  readonly settings: Settings
  readonly http: GuardedHttp
  /** The machine's. */
  readonly node: MachineNode
  /** Where runtimes are kept. */
  readonly folder: string
  /** An empty folder for this installation. */
  readonly work: string
}

const certificatesOf = ({ extraCertificates }: Settings) => Option.getOrUndefined(extraCertificates)

const npm = ({ folder, http, node, settings, work }: Place, reference: PackageReference): Installer => {
  const { origin } = new URL(settings.npmRegistry)
  const run = <A>(use: (options: NpmOptions) => Effect.Effect<A, ImageError>) =>
    withNpmRegistry(http, settings, (registry) => use({ ...registry, folder: work, node: node.version }))
  /** Moves what was installed into a machine, and what its scripts made of it back. */
  const withScripts = Effect.fnUntraced(function*(runScripts: RunScripts) {
    const machine = yield* scriptMachine(join(work, "root"), work, yield* findNpm, node)
    yield* runScripts(machine, (address) => takeFiles(address, work))
  })
  return {
    lock: run((options) => lockNpm(options, reference)),
    scriptsOf: ({ lock, name }) => Either.map(readNpmLock(lock, name, origin), ({ withScripts }) => withScripts),
    install: (locked, runScripts) =>
      Effect.gen(function*() {
        const found = yield* run((options) => installNpm(options, locked))
        const ran = runScripts === undefined ? [] : found
        if (runScripts !== undefined && ran.length > 0) yield* withScripts(runScripts)
        const runtime = yield* packageRuntime(folder, node)
        const installed = join("node_modules", locked.name)
        const programs = yield* yield* Effect.tryPromise({
          try: () => npmPrograms(join(work, installed), join(appFolder, installed), locked.name, runtime.node),
          catch: storageError(`Reading ${locked.name}`)
        })
        const contents = [{ from: join(work, "node_modules"), to: `${appFolder.slice(1)}/node_modules` }]
        return { contents, programs, ran }
      }),
    runtime: packageRuntime(folder, node)
  }
}

/** PyPI has its files at another host than its index. */
const originsOf = (index: string) => {
  const { origin } = new URL(index)
  return origin === "https://pypi.org" ? [origin, "https://files.pythonhosted.org"] : [origin]
}

const pypi = ({ folder, http, settings, work }: Place, reference: PackageReference): Installer => {
  const run = <A>(use: (options: PypiOptions) => Effect.Effect<A, ImageError>) =>
    Effect.scoped(Effect.gen(function*() {
      const proxy = yield* startRegistryProxy(http, { origins: originsOf(settings.pypiIndex), setting: "PYPI_INDEX" })
      const options = {
        folder: work,
        index: settings.pypiIndex,
        proxy: proxy.url,
        certificates: certificatesOf(settings)
      }
      return yield* Effect.mapError(use(options), proxy.explain)
    }))
  return {
    lock: run((options) => lockPypi(options, reference)),
    // Wheels have none.
    scriptsOf: () => Either.right([]),
    install: (locked) =>
      Effect.map(run((options) => installPypi(options, locked)), (programs) => ({
        contents: [{ from: join(work, "site"), to: `${appFolder.slice(1)}/site` }],
        programs,
        ran: []
      })),
    runtime: Effect.flatMap(findPython, (python) => pythonRuntime(folder, python))
  }
}

export const installerOf = (reference: PackageReference, place: Place): Installer =>
  reference.registry === "npm" ? npm(place, reference) : pypi(place, reference)
