import { type ImageError, storageError } from "#src/images/ImageError.ts"
import { entriesBelow, type LayoutEntry, writeLayout, type WrittenLayer } from "#src/images/layout.ts"
import { type ImageConfig } from "#src/machines/Machines.ts"
import {
  appFolder,
  packageRuntime,
  plain,
  type Runtime,
  sharedLayer,
  shimFolder,
  shimProgram
} from "#src/packages/package-image.ts"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { type FolderError, folderError } from "./FolderError.ts"
import { installDependencies, type Locked, readLock } from "./node-dependencies.ts"
import { nodeProgram } from "./node-program.ts"
import { takenFiles } from "./taken-files.ts"
import { type Transport, transportOf } from "./transport.ts"

/** Says how it goes on. */
export type Say = (line: string) => Effect.Effect<void>

const to = appFolder.slice(1)
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

/** What is installed is kept for the next time: the same lock gives the same layer. */
const dependencies = Effect.fn("folder.dependencies")(
  function*(folder: string, locked: Locked, runtime: Runtime, cache: string, say: Say) {
    const place = join(cache, "projects", sha256(folder).slice(0, 16))
    const work = `${place}-install`
    const layer = yield* Effect.tryPromise({
      try: (signal) =>
        sharedLayer(place, sha256(`${runtime.identity} ${locked.text}`), () =>
          Effect.runPromise(
            Effect.gen(function*() {
              yield* say("Installing what package.json needs (without install scripts)")
              yield* installDependencies(folder, locked, work)
              const entries = yield* entriesBelow(join(work, "node_modules"), `${to}/node_modules`)
              return entries.flatMap(plain).filter(({ path }) => !path.endsWith("node_modules/.package-lock.json"))
            }),
            { signal }
          )),
      catch: (error) => error instanceof Error ? folderError(error.message) : folderError(String(error))
    }).pipe(Effect.ensuring(Effect.promise(() => rm(work, { recursive: true, force: true }).catch(() => {}))))
    if (locked.withScripts.length > 0) {
      yield* say(
        `Install scripts were not run: ${locked.withScripts.join(", ")}. Where they are needed, add a Dockerfile`
      )
    }
    return layer
  }
)

const configOf = (
  { env, node }: Runtime,
  transport: Transport,
  command: ReadonlyArray<string>
): ImageConfig => ({
  // One thread of V8's is enough for what it does, and machines may have few.
  entrypoint: transport === "stdio" ? [node, "--v8-pool-size=1", shimProgram] : [...command],
  cmd: [],
  env: [...env, "HOME=/tmp"],
  workingDir: appFolder,
  user: ""
})

export interface NodeImageOptions {
  /** What is kept between two times. */
  readonly cache: string
  readonly transport: Transport | undefined
  readonly say: Say
}

/**
 * Makes a project of Node into an image, without Docker: the Node that runs this, its files, and its dependencies. The
 * same folder gives the same layers. A server that speaks stdio is served over HTTP by the program that serves packages.
 *
 * @param layout the layout into which the image is written
 */
export const nodeImage = Effect.fn("folder.nodeImage")(function*(
  folder: string,
  layout: string,
  { cache, say, transport }: NodeImageOptions
): Effect.fn.Return<string, FolderError | ImageError> {
  const program = yield* nodeProgram(folder)
  const taken = yield* Effect.tryPromise({
    try: () => takenFiles(folder, program.file, to),
    catch: storageError("Reading the folder")
  })
  const chosen = transport === undefined
    ? yield* Effect.promise(() => transportOf(taken.entries))
    : { transport, because: "--transport or berth.toml says so" }
  yield* say(`Starts node ${program.file} (${program.by}); speaks ${chosen.transport}: ${chosen.because}`)
  if (taken.despite !== undefined) yield* say(`Taken although it is ignored, as the program is there: ${taken.despite}`)
  if (taken.secrets.length > 0) {
    yield* say(
      `Left out, as secrets are kept there: ${
        taken.secrets.slice(0, 10).join(", ")
      }. What the server needs of it is named ` +
        "in .dockerignore or .gitignore, with a ! before it"
    )
  }
  if (taken.links.length > 0) yield* say(`Links are left out: ${taken.links.slice(0, 10).join(", ")}`)

  const runtime = yield* packageRuntime(cache)
  const layers: Array<WrittenLayer> = [...runtime.layers]
  if (program.hasDependencies) {
    layers.push(yield* dependencies(folder, yield* readLock(folder), runtime, cache, say))
  }
  const command = [runtime.node, ...program.before, `${appFolder}/${program.file}`, ...program.after]
  const programs = { main: "server", programs: { server: command } }
  const files: ReadonlyArray<LayoutEntry> = [
    { type: "directory", path: to },
    ...taken.entries.flatMap(plain),
    ...chosen.transport === "http" ? [] : [
      { type: "file", path: `${shimFolder}/programs.json`, content: `${JSON.stringify(programs)}\n` } as const
    ]
  ]
  const { digest } = yield* writeLayout(layout, {
    layers: [...layers, files],
    config: configOf(runtime, chosen.transport, command)
  })
  return digest
})
