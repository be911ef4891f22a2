import { decodeConfig, imageConfig } from "#src/images/inspect.ts"
import { writeLayout, type WrittenLayer } from "#src/images/layout.ts"
import { type Descriptor, mediaTypes } from "#src/images/manifest.ts"
import { Effect, Schema } from "effect"
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { once } from "node:events"
import { createReadStream, createWriteStream } from "node:fs"
import { mkdir, open, readFile } from "node:fs/promises"
import { join } from "node:path"
import { PassThrough } from "node:stream"
import { pipeline } from "node:stream/promises"
import { createGzip } from "node:zlib"
import { extract } from "tar"
import { type FolderError, folderError } from "./FolderError.ts"
import { type Say } from "./node-image.ts"

const Archive = Schema.parseJson(Schema.NonEmptyArray(Schema.Struct({
  Config: Schema.String,
  Layers: Schema.Array(Schema.String)
})))
const Index = Schema.parseJson(Schema.Struct({
  manifests: Schema.NonEmptyArray(Schema.Struct({ digest: Schema.String }))
}))

const failed = (error: unknown): FolderError => folderError(error instanceof Error ? error.message : String(error))

/** Ends with the program's exit code; its output goes to standard error, for people. */
const run = (program: string, args: ReadonlyArray<string>, isQuiet = false) =>
  Effect.tryPromise({
    try: async (signal) => {
      const out = isQuiet ? "ignore" : "inherit"
      // Standard output is for the command's own result.
      const child = spawn(program, args, { stdio: ["ignore", isQuiet ? "ignore" : 2, out], signal })
      const [code] = await once(child, "close")
      return Number(code ?? 1)
    },
    catch: failed
  })

const mustRun = (program: string, args: ReadonlyArray<string>) =>
  Effect.flatMap(
    run(program, args),
    (code) => code === 0 ? Effect.void : folderError(`${program} ${args[0] ?? ""} failed with exit code ${code}`)
  )

const works = (program: string, args: ReadonlyArray<string>) =>
  Effect.map(Effect.orElseSucceed(run(program, args, true), () => 1), (code) => code === 0)

/** What builds Dockerfiles here: Docker where its daemon answers, else buildah. */
const findBuilder = Effect.gen(function*() {
  if (yield* works("docker", ["info"])) return "docker" as const
  if (yield* works("buildah", ["--version"])) return "buildah" as const
  return yield* folderError(
    "The folder has a Dockerfile, and neither docker (with its daemon running) nor buildah is here to build it: install " +
      "one of them. A project of Node needs neither: without a Dockerfile it is made into an image by this command"
  )
})

const isGzip = async (file: string) => {
  const handle = await open(file)
  try {
    const head = Buffer.alloc(2)
    await handle.read(head, 0, 2, 0)
    return head[0] === 0x1f && head[1] === 0x8b
  } finally {
    await handle.close()
  }
}

/** A layer of a saved image, compressed, with its digest. The same layer gives the same bytes. */
const writtenLayer = async (from: string, diffId: string, file: string): Promise<WrittenLayer> => {
  const hash = createHash("sha256")
  let size = 0
  const counted = new PassThrough()
  counted.on("data", (chunk: Buffer) => {
    hash.update(chunk)
    size += chunk.length
  })
  const compress = await isGzip(from) ? new PassThrough() : createGzip({ level: 1 })
  await pipeline(createReadStream(from), compress, counted, createWriteStream(file))
  const descriptor: Descriptor = { mediaType: mediaTypes.layer, digest: `sha256:${hash.digest("hex")}`, size }
  return { file, descriptor, diffId }
}

/** Puts what `docker save` wrote into the layout; every version of Docker writes its `manifest.json`. */
const fromArchive = Effect.fnUntraced(function*(archive: string, work: string, layout: string) {
  const saved = join(work, "saved")
  const [image] = yield* Effect.tryPromise({
    try: async () => {
      await mkdir(saved, { recursive: true })
      await extract({ file: archive, cwd: saved })
      return Schema.decodeSync(Archive)(await readFile(join(saved, "manifest.json"), "utf8"))
    },
    catch: failed
  })
  const config = yield* decodeConfig(yield* Effect.promise(() => readFile(join(saved, image.Config))))
  const layers = yield* Effect.forEach(image.Layers, (path, at) =>
    Effect.tryPromise({
      try: () => writtenLayer(join(saved, path), config.rootfs.diff_ids?.[at] ?? "", join(work, `layer-${at}`)),
      catch: failed
    }))
  const { digest } = yield* writeLayout(layout, {
    layers,
    config: imageConfig(config),
    architecture: config.architecture
  })
  return digest
})

const byDocker = Effect.fnUntraced(function*(folder: string, work: string, layout: string) {
  const id = join(work, "image-id")
  yield* mustRun("docker", ["build", "--iidfile", id, folder])
  const archive = join(work, "image.tar")
  yield* mustRun("docker", ["save", "--output", archive, (yield* Effect.promise(() => readFile(id, "utf8"))).trim()])
  return yield* fromArchive(archive, work, layout)
})

const byBuildah = Effect.fnUntraced(function*(folder: string, work: string, layout: string) {
  const id = join(work, "image-id")
  yield* mustRun("buildah", ["build", "--layers", "--iidfile", id, folder])
  yield* mustRun("buildah", [
    "push",
    (yield* Effect.promise(() => readFile(id, "utf8"))).trim(),
    `oci:${layout}:latest`
  ])
  const { manifests: [{ digest }] } = yield* Effect.tryPromise({
    try: async () => Schema.decodeSync(Index)(await readFile(join(layout, "index.json"), "utf8")),
    catch: failed
  })
  return digest
})

/**
 * Builds the Dockerfile of a folder into the layout.
 *
 * @param work a folder for what is needed meanwhile
 */
export const builtImage = Effect.fn("folder.builtImage")(
  function*(folder: string, work: string, layout: string, say: Say) {
    const builder = yield* findBuilder
    yield* say(`Building the Dockerfile with ${builder}`)
    return yield* (builder === "docker" ? byDocker : byBuildah)(folder, work, layout)
  }
)
