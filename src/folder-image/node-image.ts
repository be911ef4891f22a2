import { type ImageError, storageError } from "#src/images/ImageError.ts"
import { entriesBelow, type LayoutEntry, writeLayout, type WrittenLayer } from "#src/images/layout.ts"
import { type ImageConfig } from "#src/machines/Machines.ts"
import { appFolder, packageRuntime, plain, type Runtime, shimFolder, shimProgram } from "#src/packages/package-image.ts"
import { Effect, type Scope } from "effect"
import { createHash } from "node:crypto"
import { join } from "node:path"
import { type FolderError, folderError } from "./FolderError.ts"
import { findKept, makeKept } from "./kept-layer.ts"
import { installDependencies, type Locked, readLock } from "./node-dependencies.ts"
import { nodeProgram } from "./node-program.ts"
import { runFolder, sweep } from "./run-folders.ts"
import { takenFiles } from "./taken-files.ts"
import { type Transport, transportOf } from "./transport.ts"

/** Says how it goes on. */
export type Say = (line: string) => Effect.Effect<void>

const to = appFolder.slice(1)
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

const reason = (error: unknown) => folderError(error instanceof Error ? error.message : String(error))

/** What is installed is kept for the next time: the same lock gives the same layer. */
const dependencies = Effect.fn("folder.dependencies")(
  function*(folder: string, locked: Locked, runtime: Runtime, cache: string, say: Say) {
    const inputs = sha256(`${runtime.identity} ${locked.text}`)
    const place = join(cache, "dependencies", `${sha256(folder).slice(0, 16)}-${inputs.slice(0, 16)}`)
    // Where they were kept before: runs of one folder shared it, and could keep what was not whole.
    yield* Effect.promise(() => sweep(join(cache, "projects"), ""))
    const install = Effect.gen(function*() {
      yield* say("Installing what package.json needs (without install scripts)")
      const run = yield* runFolder(join(cache, "installing"))
      const work = join(run, "install")
      yield* installDependencies(folder, locked, work)
      const entries = yield* entriesBelow(join(work, "node_modules"), `${to}/node_modules`)
      const files = entries.flatMap(plain).filter(({ path }) => !path.endsWith("node_modules/.package-lock.json"))
      return yield* Effect.tryPromise({
        try: () => makeKept(place, inputs, run, () => Promise.resolve(files)),
        catch: reason
      })
    })
    const layer = (yield* Effect.promise(() => findKept(place, inputs))) ?? (yield* install)
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
): Effect.fn.Return<string, FolderError | ImageError, Scope.Scope> {
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

  // Another command may be making it as well, and remove what this one is writing: by now it is there.
  const runtime = yield* Effect.retry(packageRuntime(cache), { times: 2 })
  const layers: Array<WrittenLayer> = [...runtime.layers]
  if (program.wants.length > 0) {
    layers.push(yield* dependencies(folder, yield* readLock(folder, program), runtime, cache, say))
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
}, Effect.scoped)
