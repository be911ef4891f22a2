import { type Settings } from "#src/config/Settings.ts"
import { type ImageError, imageError, storageError } from "#src/images/ImageError.ts"
import { librariesOf } from "#src/ready-image/libraries.ts"
import { type GuardedHttp } from "#src/shared/GuardedHttp.ts"
import { keyedMutex } from "#src/shared/keyed-mutex.ts"
import { Clock, Effect, Either } from "effect"
import { existsSync } from "node:fs"
import { copyFile, mkdir, readdir, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { hostNode, type MachineNode, type NodeChoice } from "./machine-node.ts"
import { withNpmRegistry } from "./npm-registry.ts"
import { installNpm, lockNpm } from "./npm.ts"
import { installFolder, workspace } from "./workspace.ts"

/** Packages of npm's registry that carry Node alone, as it is published for this kind of machine. */
const carrier = `node-linux-${process.arch}`

type Say = (line: string) => Effect.Effect<void>

const majorOf = (version: string) => version.slice(0, version.indexOf("."))
const byVersion = (a: string, b: string) => a.localeCompare(b, "en", { numeric: true })

/** Milliseconds until it is looked for a newer one, and until it is tried again after a failure. */
const fresh = 24 * 3_600_000
const calm = 10 * 60_000

interface Looked {
  readonly until: number
  readonly found: Either.Either<MachineNode, ImageError>
}

const storedIn = (folder: string) =>
  readdir(folder).then((names) => names.filter((name) => /^\d+\.\d+\.\d+$/.test(name)).sort(byVersion), () => [])

/** Removes all that are kept but the newest of each, with the layers that were made of them. */
const sweep = async (folder: string, kept: string) => {
  const stored = await storedIn(kept)
  const newest = new Map(stored.map((version) => [majorOf(version), version]))
  const isOld = (version: string) => newest.get(majorOf(version)) !== version
  const layers = (await readdir(folder).catch(() => [])).flatMap((name) => /^runtime-node-(.+)$/.exec(name)?.[1] ?? [])
  for (const version of stored.filter(isOld)) await rm(join(kept, version), { force: true })
  for (const version of layers.filter(isOld)) {
    await rm(join(folder, `runtime-node-${version}`), { recursive: true, force: true })
  }
}

/**
 * The Nodes that packages run on: fetched from the registry of npm when first wanted, by its hash, and kept below
 * `folder`. Looked for again once a day (docs/decisions/machine-node.md).
 */
export const makeFetchedNodes = (
  { folder, http, settings }: { readonly folder: string; readonly http: GuardedHttp; readonly settings: Settings }
) => {
  const kept = join(folder, "node")
  const looked = new Map<string, Looked>()
  const lock = keyedMutex()
  const storing = <A>(work: () => Promise<A>) => Effect.tryPromise({ try: work, catch: storageError("Keeping a Node") })
  const at = (version: string): MachineNode => ({ version, binary: join(kept, version) })

  /** `wanted` is a version, or the first number of one: then it is the newest of these. */
  const fetch = (wanted: string) =>
    Effect.scoped(Effect.gen(function*() {
      const work = yield* workspace(folder)
      const place = installFolder(work)
      yield* storing(() => mkdir(place))
      const locked = yield* withNpmRegistry(http, settings, (registry) =>
        Effect.gen(function*() {
          const options = { ...registry, folder: place, node: hostNode.version }
          const locked = yield* lockNpm(options, { registry: "npm", name: carrier, wanted, extras: [] })
          if (!existsSync(at(locked.version).binary)) yield* installNpm(options, locked)
          return locked
        }))
      const made = at(locked.version)
      if (existsSync(made.binary)) return made
      yield* storing(async () => {
        const installed = join(place, "node_modules", carrier, "bin", "node")
        // One that needs what this host lacks would start nowhere.
        await librariesOf(installed)
        await mkdir(kept, { recursive: true })
        await copyFile(installed, join(work, "node"))
        await rename(join(work, "node"), made.binary)
      })
      return made
    }))

  const newest = Effect.fn("packages.newestNode")((major: string, say: Say) =>
    lock(major)(Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const known = looked.get(major)
      if (known !== undefined && now < known.until) return yield* known.found
      yield* say(`looking for the newest Node ${major}, which its machine gets`)
      const fetched = yield* Effect.either(fetch(major))
      const stored = (yield* Effect.promise(() => storedIn(kept))).filter((version) => majorOf(version) === major).at(
        -1
      )
      const found = Either.isLeft(fetched) && stored !== undefined ? Either.right(at(stored)) : fetched
      looked.set(major, { found, until: now + (Either.isRight(fetched) ? fresh : calm) })
      return yield* found
    }))
  )

  /** What a caller chose, or the installation's default; where that can't be fetched this host's own. */
  const choose = Effect.fn("packages.chooseNode")(
    function*(wanted: NodeChoice | null, say: Say) {
      const major = wanted ?? settings.packageNode
      if (major === "host" || major === majorOf(hostNode.version)) return hostNode
      const found = yield* Effect.either(newest(major, say))
      if (Either.isRight(found)) return found.right
      const { message, reason } = found.left
      if (wanted !== null) return yield* imageError(reason, `Node ${major} can't be fetched: ${message}`)
      yield* say(
        `Node ${major} can't be fetched, so its machine has this host's Node ${hostNode.version}: ${message}`
      )
      return hostNode
    }
  )

  return {
    sweep: () => sweep(folder, kept),
    choose,
    /** The default of a home that has fetched no Node yet, so that its first package need not wait for it. */
    first: Effect.gen(function*() {
      if ((yield* Effect.promise(() => storedIn(kept))).length > 0) return undefined
      const node = yield* choose(null, (line) => Effect.logDebug(line))
      return node === hostNode ? undefined : node
    }),
    /** One of which an image was made before, where it can be fetched; else this host's own. */
    exactly: (version: string | undefined) =>
      version === undefined || version === hostNode.version
        ? Effect.succeed(hostNode)
        : existsSync(at(version).binary)
        ? Effect.succeed(at(version))
        : Effect.orElseSucceed(fetch(version), () => hostNode)
  } as const
}
