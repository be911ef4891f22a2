import { tied } from "#src/machines/tied-process.ts"
import { Effect, Either, Schema } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { copyFile, mkdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { folderError } from "./FolderError.ts"
import { type NodeProgram } from "./node-program.ts"
import { bundling, withoutLock } from "./without-lock.ts"

const Entry = Schema.Struct({
  link: Schema.optional(Schema.Boolean),
  dev: Schema.optional(Schema.Boolean),
  hasInstallScript: Schema.optional(Schema.Boolean)
})
const Lock = Schema.parseJson(Schema.Struct({ packages: Schema.Record({ key: Schema.String, value: Entry }) }))
const decode = Schema.decodeUnknownEither(Lock)

const lockNames = ["npm-shrinkwrap.json", "package-lock.json"] as const

export interface Locked {
  readonly file: string
  readonly text: string
  /** Packages that would run scripts when they are installed. */
  readonly withScripts: ReadonlyArray<string>
}

const read = (path: string) => readFile(path, "utf8").catch(() => undefined)

/** A project's lock file of npm, which says exactly what is installed. */
export const readLock = Effect.fn("folder.readLock")(function*(folder: string, program: NodeProgram) {
  for (const file of lockNames) {
    const text = yield* Effect.promise(() => read(join(folder, file)))
    if (text === undefined) continue
    const lock = yield* Either.mapLeft(
      decode(text),
      () => folderError(`${file} can't be read, or was written by an npm before 7: npm install writes it again`)
    )
    const packages = Object.entries(lock.packages).filter(([path, { dev }]) => path !== "" && dev !== true)
    const linked = packages.find(([, { link }]) => link === true)
    if (linked !== undefined) {
      return yield* folderError(
        `${
          linked[0]
        } is a link to another folder, which is not taken along. Make one file of the project, and deploy ` +
          `that:\n${bundling(program)}`
      )
    }
    const nameOf = (path: string) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)
    const withScripts = packages.filter(([, { hasInstallScript }]) => hasInstallScript === true)
      .map(([path]) => nameOf(path))
    return { file, text, withScripts: [...new Set(withScripts)] } satisfies Locked
  }
  return yield* folderError(yield* Effect.promise(() => withoutLock(folder, program)))
})

const noNpm = "npm is not installed here: it installs what the server needs"

/** Ends with this command, where the system can do that: nothing would use what it installs. */
const npm = async (folder: string, signal: AbortSignal) => {
  const options = ["--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--no-bin-links", "--loglevel=error"]
  const [program, ...args] = await tied("npm", ["ci", ...options])
  const child = spawn(program, args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"], signal })
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, "close")])
  // What ties it says so when the program is not there, as shells do.
  if (code === 127 && program !== "npm") throw folderError(noNpm)
  if (code !== 0) {
    throw folderError(`npm could not install what the lock file says: ${said.trim() || `exit code ${code}`}`)
  }
}

/**
 * Installs a project's production dependencies into `work`, exactly as its lock says and without running anything of
 * theirs; with the user's own configuration of npm, so that private registries work.
 */
export const installDependencies = (folder: string, { file }: Locked, work: string) =>
  Effect.tryPromise({
    try: async (signal) => {
      await mkdir(work, { recursive: true })
      for (const name of ["package.json", file]) await copyFile(join(folder, name), join(work, name))
      await copyFile(join(folder, ".npmrc"), join(work, ".npmrc")).catch(() => {})
      await npm(work, signal)
    },
    catch: (error) =>
      error instanceof Error && "code" in error && error.code === "ENOENT"
        ? folderError(noNpm)
        : error instanceof Error
        ? folderError(error.message)
        : folderError(String(error))
  })
