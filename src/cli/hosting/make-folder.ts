import { CliFailure } from "#src/cli/CliFailure.ts"
import { exitCodes } from "#src/cli/exit-codes.ts"
import { usableFolder } from "#src/config/home.ts"
import { type FolderError } from "#src/folder-image/FolderError.ts"
import { type ImageError } from "#src/images/ImageError.ts"
import { type Server } from "#src/servers/Server.ts"
import { diskFull, orDiskFull } from "#src/shared/disk-full.ts"
import { Config, Console, Effect, Option } from "effect"
import { homedir, tmpdir } from "node:os"
import { join } from "node:path"
import { type Connected } from "./platform.ts"

/** Where layers are kept that do not change from one time to the next. */
const cacheFolder = Effect.gen(function*() {
  const base = yield* Effect.option(Config.nonEmptyString("XDG_CACHE_HOME"))
  const folder = join(Option.getOrElse(base, () => join(homedir(), ".cache")), "berth")
  yield* usableFolder("XDG_CACHE_HOME", folder, 0o700)
  return folder
})

const badFile = (message: string) => new CliFailure({ message, code: exitCodes.badFile })

/** The system does not say where a write failed: either folder may be on the full disk. */
const failed = (folders: string) => (error: FolderError | ImageError) => {
  const { message } = error
  if (error._tag !== "ImageError" || error.reason !== "storage") {
    return new CliFailure({ message, code: exitCodes.failed })
  }
  return badFile(orDiskFull(message) === diskFull ? `The disk is full: make room in ${folders}` : message)
}

/** Makes a folder into an image, here; `push` sends it to the installation, and gives its address there. */
export const makeFolder = Effect.fn("cli.makeFolder")(
  function*(folder: string, transport: "stdio" | "http" | undefined) {
    // Loaded when a folder is deployed, so that other commands start at once.
    const { imageOfFolder, runFolder } = yield* Effect.promise(async () => ({
      ...await import("#src/folder-image/image-of-folder.ts"),
      ...await import("#src/folder-image/run-folders.ts")
    }))
    const cache = yield* Effect.mapError(cacheFolder, ({ message }) => badFile(message))
    const orFail = Effect.mapError(failed(`${cache} (XDG_CACHE_HOME) or ${tmpdir()} (TMPDIR)`))
    const work = yield* orFail(runFolder(tmpdir(), "berth-deploy-"))
    const say = (line: string) => Console.error(line)
    const { digest, layout } = yield* orFail(imageOfFolder(folder, work, { cache, say, transport }))
    return {
      push: (connected: Connected, server: Server) =>
        Effect.flatMap(
          Effect.promise(() => import("./push-layout.ts")),
          ({ pushLayout }) => pushLayout(connected, server, layout, digest, cache)
        )
    }
  }
)
