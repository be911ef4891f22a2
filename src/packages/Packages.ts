import { CurrentSettings } from "#src/config/Settings.ts"
import { type ImageError, imageError, storageError } from "#src/images/ImageError.ts"
import { Images, type ResolvedImage } from "#src/images/Images.ts"
import { megabytes } from "#src/shared/bytes.ts"
import { GuardedHttp } from "#src/shared/GuardedHttp.ts"
import { keyedMutex } from "#src/shared/keyed-mutex.ts"
import { Effect, Either, identity, Option } from "effect"
import { createHash } from "node:crypto"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { makeFetchedNodes } from "./fetched-nodes.ts"
import { type Installer, installerOf } from "./installers.ts"
import { isExactly, sameAs, type Served } from "./kept-lock.ts"
import { hostNode, type MachineNode, type NodeChoice } from "./machine-node.ts"
import { packageRuntime, writePackageImage } from "./package-image.ts"
import { type Locked, type Package } from "./Package.ts"
import { PackagesRepo } from "./PackagesRepo.ts"
import { makePlaces } from "./places.ts"
import { type PackageReference, parsePackage } from "./reference.ts"
import { sizeBelow } from "./run-installer.ts"
import { aboutScripts, type RunScripts } from "./scripts.ts"
import { installFolder, sweepWorkspaces, workspace } from "./workspace.ts"

/** Changes when the same lock must give another image. */
const format = "1"

/** Says to the owner of a deployment how it goes on. */
export type Say = (line: string) => Effect.Effect<void>

export interface PackageImage {
  readonly resolved: ResolvedImage
  readonly package: Package
}

/** What a deployment asks for beside its package. */
export interface Wishes {
  /** Runs its install scripts. */
  readonly scripts?: RunScripts | undefined
  /** The Node of its machine; null: the installation's. */
  readonly node?: NodeChoice | null
  /** Deployments of the server that served, the newest of each version, whose locks are kept. */
  readonly served?: ReadonlyArray<Served>
}

interface Task {
  readonly imageUri: string
  readonly reference: PackageReference
  readonly node: MachineNode
  readonly say: Say
  /** An empty folder. */
  readonly work: string
}

const anew = "freshDependencies: true resolves its dependencies anew"

const sha256 = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`
/**
 * Makes images of packages of npm and PyPI: resolved to a lock, installed in a folder of the home without running
 * anything of theirs, and stored like an image that was pulled. The same lock gives the same image, which is made once;
 * but install scripts, which run in a machine, are run for each deployment that asks for them.
 */
export class Packages extends Effect.Service<Packages>()("packages/Packages", {
  scoped: Effect.gen(function*() {
    const settings = yield* CurrentSettings
    const images = yield* Images
    const http = yield* GuardedHttp
    const repo = yield* PackagesRepo
    const folder = join(settings.home, "packages")
    const lock = keyedMutex()
    // Nobody may want a package for long: what a crash left at work ends with this start.
    yield* Effect.forkDaemon(Effect.ignoreLogged(Effect.tryPromise(() => sweepWorkspaces(folder))))
    const nodes = makeFetchedNodes({ settings, http, folder })
    yield* Effect.forkDaemon(Effect.ignoreLogged(Effect.tryPromise(nodes.sweep)))
    yield* nodes.first.pipe(
      Effect.flatMap((node) => node === undefined ? Effect.void : packageRuntime(folder, node)),
      Effect.ignoreLogged,
      Effect.forkScoped
    )
    /** Installers take memory and cores. */
    const installing = yield* makePlaces(3)
    /** Scripts may take minutes: those who ask for none don't wait for them. */
    const withScripts = yield* makePlaces(2)

    const parse = (imageUri: string): Effect.Effect<PackageReference, ImageError> =>
      Effect.mapError(parsePackage(imageUri), (message) => imageError("invalid_reference", message))

    /** Installs what is locked, and stores the image of it. */
    const make = Effect.fn("Packages.make")(function*(
      { imageUri, node, reference, say, work }: Task,
      locked: Locked,
      scripts?: RunScripts
    ) {
      const installer = installerOf(reference, { settings, http, folder, node, work: installFolder(work) })
      const runtime = yield* installer.runtime
      yield* say(`installing ${locked.name} ${locked.version}`)
      const { contents, programs, ran } = yield* installer.install(locked, scripts)
      const sizes = yield* Effect.promise(() => Promise.all(contents.map(({ from }) => sizeBelow(from))))
      yield* say(`installed (${megabytes(sizes.reduce((sum, size) => sum + size, 0))}); making the image`)
      const layout = join(work, "layout")
      yield* writePackageImage(layout, runtime, contents, programs, locked.lock, ran)
      const resolved = yield* images.adopt(layout, imageUri)
      const made: Package = {
        registry: reference.registry,
        name: locked.name,
        version: locked.version,
        ...reference.registry === "npm" ? { node: node.version } : {},
        lockDigest: sha256(locked.lock),
        programs: Object.keys(programs.programs),
        main: programs.main
      }
      const inputs = inputsOf(locked, runtime.identity, ran)
      yield* repo.put({ digest: resolved.digest, package: made, lock: locked.lock }, inputs)
      return { resolved, package: made } satisfies PackageImage
    })

    const inputsOf = (locked: Locked, runtime: string, ran: ReadonlyArray<string> = []) =>
      sha256([format, runtime, sha256(locked.lock), ...ran.length === 0 ? [] : ["scripts"]].join(" "))

    const inWorkspace = <A, E>(
      imageUri: string,
      say: Say,
      scripts: RunScripts | undefined,
      use: (work: string) => Effect.Effect<A, E | ImageError>
    ) =>
      Effect.scoped(Effect.gen(function*() {
        const work = yield* workspace(folder)
        yield* Effect.tryPromise({ try: () => mkdir(installFolder(work)), catch: storageError("Making a folder") })
        return yield* use(work)
      })).pipe(
        (scripts === undefined ? installing : withScripts)(say),
        // Only what is the same for everybody is worth waiting for.
        scripts === undefined ? lock(imageUri) : identity
      )

    /** What served before of this package: its lock, as long as it is one of today's registry. */
    const lockOf = Effect.fnUntraced(function*(installer: Installer, { digest }: Served) {
      const known = Option.getOrUndefined(yield* repo.byDigest(digest))
      if (known === undefined) return undefined
      const { lock, package: { name, version } } = known
      return Either.getOrUndefined(
        Either.map(installer.scriptsOf({ lock, name }), (withScripts): Locked => ({
          name,
          version,
          lock,
          notes: [`${name} ${version} is installed with what it had when it served; ${anew}`],
          withScripts
        }))
      )
    })

    /**
     * What is to be installed: as the registry has it now, but of a version that served here before with exactly what it
     * had then. What others publish since must not break a deployment of the same.
     */
    const lockFor = Effect.fnUntraced(function*(
      reference: PackageReference,
      installer: Installer,
      served: ReadonlyArray<Served>
    ) {
      const same = sameAs(reference, served)
      const exact = same.find(({ version }) => isExactly(reference, version))
      const known = exact === undefined ? undefined : yield* lockOf(installer, exact)
      if (known !== undefined) return { isKept: true, locked: known }
      const locked = yield* installer.lock
      const before = same.find(({ version }) => version === locked.version)
      const kept = before === undefined ? undefined : yield* lockOf(installer, before)
      return kept === undefined || kept.lock === locked.lock
        ? { isKept: false, locked }
        : { isKept: true, locked: kept }
    })

    /**
     * The image of a package. Made unless the same is stored already; and always where there are install scripts to run,
     * as what they write may depend on what their server reaches, and on the day.
     */
    const resolve = Effect.fn("Packages.resolve")((
      imageUri: string,
      say: Say,
      { node: wanted = null, scripts, served = [] }: Wishes = {}
    ) =>
      Effect.flatMap(
        parse(imageUri),
        (reference) =>
          inWorkspace(imageUri, say, scripts, (work) =>
            Effect.gen(function*() {
              const node = reference.registry === "npm" ? yield* nodes.choose(wanted, say) : hostNode
              const task: Task = { imageUri, node, reference, say, work }
              const installer = installerOf(reference, { settings, http, folder, node, work: installFolder(work) })
              const [{ isKept, locked }, runtime] = yield* Effect.all(
                [lockFor(reference, installer, served), installer.runtime],
                { concurrency: 2 }
              )
              const notes = [...locked.notes, ...aboutScripts(locked.withScripts, scripts !== undefined)]
              yield* Effect.forEach(notes, say, { discard: true })
              const making = (scripts?: RunScripts) =>
                Effect.mapError(make(task, locked, scripts), (error) =>
                  isKept && error.reason === "invalid_image"
                    ? imageError(error.reason, `${error.message}; ${anew}`)
                    : error)
              if (scripts !== undefined && locked.withScripts.length > 0) return yield* making(scripts)
              const known = Option.getOrUndefined(yield* repo.byInputs(inputsOf(locked, runtime.identity)))
              if (known === undefined || !(yield* images.has(known.digest))) return yield* making()
              yield* say("an image of exactly this is stored already")
              return {
                resolved: yield* images.known(imageUri, known.digest),
                package: known.package
              } satisfies PackageImage
            }))
      )
    )

    /**
     * Makes an image again that was lost, by its lock, and with its install scripts if it was made with them. Fails with
     * `not_found` when this host makes another of it.
     */
    const again = Effect.fn("Packages.again")(function*(imageUri: string, digest: string, scripts?: RunScripts) {
      const known = Option.getOrUndefined(yield* repo.byDigest(digest))
      if (known === undefined) return yield* imageError("not_found", `What ${digest} was made of is not known`)
      const reference = yield* parse(imageUri)
      const { lock: text, package: { name, node: version, version: of } } = known
      const locked = { name, version: of, lock: text, notes: [], withScripts: [] }
      const say = () => Effect.void
      const made = yield* inWorkspace(
        imageUri,
        say,
        scripts,
        (work) =>
          Effect.flatMap(
            nodes.exactly(version),
            (node) => make({ imageUri, node, reference, say, work }, locked, scripts)
          )
      )
      if (made.resolved.digest !== digest) {
        return yield* imageError("not_found", `${imageUri} gives another image on this host than ${digest}`)
      }
    })

    return { resolve, again, forget: repo.forget } as const
  })
}) {}
