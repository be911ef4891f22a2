import { CurrentSettings } from "#src/config/Settings.ts"
import { type ImageError, imageError, storageError } from "#src/images/ImageError.ts"
import { Images, type ResolvedImage } from "#src/images/Images.ts"
import { megabytes } from "#src/shared/bytes.ts"
import { GuardedHttp } from "#src/shared/GuardedHttp.ts"
import { keyedMutex } from "#src/shared/keyed-mutex.ts"
import { Effect, identity, Option } from "effect"
import { createHash } from "node:crypto"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { installerOf } from "./installers.ts"
import { writePackageImage } from "./package-image.ts"
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

const sha256 = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`
/**
 * Makes images of packages of npm and PyPI: resolved to a lock, installed in a folder of the home without running
 * anything of theirs, and stored like an image that was pulled. The same lock gives the same image, which is made once;
 * but install scripts, which run in a machine, are run for each deployment that asks for them.
 */
export class Packages extends Effect.Service<Packages>()("packages/Packages", {
  effect: Effect.gen(function*() {
    const settings = yield* CurrentSettings
    const images = yield* Images
    const http = yield* GuardedHttp
    const repo = yield* PackagesRepo
    const folder = join(settings.home, "packages")
    const lock = keyedMutex()
    // Nobody may want a package for long: what a crash left at work ends with this start.
    yield* Effect.forkDaemon(Effect.ignoreLogged(Effect.tryPromise(() => sweepWorkspaces(folder))))
    /** Installers take memory and cores. */
    const installing = yield* makePlaces(3)
    /** Scripts may take minutes: those who ask for none don't wait for them. */
    const withScripts = yield* makePlaces(2)

    const parse = (imageUri: string): Effect.Effect<PackageReference, ImageError> =>
      Effect.mapError(parsePackage(imageUri), (message) => imageError("invalid_reference", message))

    /** Installs what is locked, and stores the image of it. */
    const make = Effect.fn("Packages.make")(function*(
      imageUri: string,
      reference: PackageReference,
      locked: Locked,
      work: string,
      say: Say,
      scripts?: RunScripts
    ) {
      const installer = installerOf(reference, { settings, http, folder, work: installFolder(work) })
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

    /**
     * The image of a package as the registry has it now. Made unless the same is stored already; and always where there
     * are install scripts to run, as what they write may depend on what their server reaches, and on the day.
     */
    const resolve = Effect.fn("Packages.resolve")((imageUri: string, say: Say, scripts?: RunScripts) =>
      Effect.flatMap(
        parse(imageUri),
        (reference) =>
          inWorkspace(imageUri, say, scripts, (work) =>
            Effect.gen(function*() {
              const installer = installerOf(reference, { settings, http, folder, work: installFolder(work) })
              const locked = yield* installer.lock
              const notes = [...locked.notes, ...aboutScripts(locked.withScripts, scripts !== undefined)]
              yield* Effect.forEach(notes, say, { discard: true })
              if (scripts !== undefined && locked.withScripts.length > 0) {
                return yield* make(imageUri, reference, locked, work, say, scripts)
              }
              const runtime = yield* installer.runtime
              const known = Option.getOrUndefined(yield* repo.byInputs(inputsOf(locked, runtime.identity)))
              if (known === undefined || !(yield* images.has(known.digest))) {
                return yield* make(imageUri, reference, locked, work, say)
              }
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
      const { lock: text, package: { name, version } } = known
      const locked = { name, version, lock: text, notes: [], withScripts: [] }
      const quiet = () => Effect.void
      const made = yield* inWorkspace(
        imageUri,
        quiet,
        scripts,
        (work) => make(imageUri, reference, locked, work, quiet, scripts)
      )
      if (made.resolved.digest !== digest) {
        return yield* imageError("not_found", `${imageUri} gives another image on this host than ${digest}`)
      }
    })

    return { resolve, again, forget: repo.forget } as const
  })
}) {}
