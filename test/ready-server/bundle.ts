import { spawn } from "node:child_process"
import { copyFile, mkdir, readdir, rename, rm, stat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { build, type Options } from "tsup"
import { packThread, program, readThread, readyServer, stdioShim, unpackThread } from "../../tsup.config.ts"

const root = new URL("../..", import.meta.url).pathname

const changed = async (path: string): Promise<number> => (await stat(path).catch(() => undefined))?.mtimeMs ?? 0

const newest = async (sources: ReadonlyArray<string>): Promise<number> => {
  const folders = sources.map((folder) => join(root, folder))
  const files = await Promise.all(
    folders.map(async (folder) => (await readdir(folder, { recursive: true })).map((name) => join(folder, name)))
  )
  const all = [...files.flat(), join(root, "tsup.config.ts"), join(root, "package-lock.json")]
  return Math.max(...await Promise.all(all.map(changed)))
}

/** A bundle, built when absent or older than its sources. Put in place by a rename: test files run at once. */
const bundleOf = async (name: string, options: Options, sources: ReadonlyArray<string>): Promise<string> => {
  const bundle = join(root, "dist", name)
  if (await changed(bundle) > await newest(sources)) return bundle
  const outDir = join(root, `dist/.${name.replace("/", "-")}-${process.pid}`)
  await mkdir(outDir, { recursive: true })
  await mkdir(dirname(bundle), { recursive: true })
  await build({ ...options, outDir, config: false, silent: true })
  await rename(join(outDir, name), bundle)
  await rm(outDir, { recursive: true, force: true })
  return bundle
}

export const readyServerBundle = () => bundleOf("ready-server.cjs", readyServer, ["src/ready-server", "src/format"])

/** What reads the files of imports. */
export const readThreadBundle = () => bundleOf("read-thread.js", readThread, ["src/imports", "src/shared"])

/** What unpacks and packs images. */
export const imageThreadBundles = () =>
  Promise.all([
    bundleOf("pack-thread.js", packThread, ["src/images", "src/shared"]),
    bundleOf("unpack-thread.js", unpackThread, ["src/images", "src/shared"])
  ])

/** What serves packages over HTTP. */
export const stdioShimBundle = () => bundleOf("stdio-shim.js", stdioShim, ["src/stdio-shim"])

/**
 * The platform that tests kill and start again: from its sources it takes ten times the processor time to start. In a
 * folder of its own with the threads of it, which lie beside it.
 */
export const killableBundle = async () => {
  const sources = ["src", "http", "sql", "tools", "test/support", "test/deployments/support"]
  await bundleOf(
    "killable/hash-thread.js",
    { ...program, splitting: false, entry: { "killable/hash-thread": "src/accounts/hash-thread.js" } },
    ["src/accounts"]
  )
  await copyFile(await readThreadBundle(), join(root, "dist/killable/read-thread.js"))
  for (const bundle of await imageThreadBundles()) await copyFile(bundle, join(root, "dist/killable", basename(bundle)))
  return bundleOf(
    "killable/killable.js",
    {
      ...program,
      splitting: false,
      sourcemap: false,
      entry: { "killable/killable": "test/deployments/support/killable.program.ts" }
    },
    sources
  )
}

export interface Exit {
  readonly code: number | null
  readonly stderr: string
}

/** A server process; `url` is ready to be used, `stop` sends SIGTERM and waits. */
export interface Running {
  readonly url: string
  readonly pid: number
  readonly stop: () => Promise<Exit>
}

export const run = async (env: Readonly<Record<string, string>>): Promise<Running | Exit> => {
  const child = spawn(process.execPath, [await readyServerBundle()], { env, stdio: ["ignore", "pipe", "pipe"] })
  let stderr = ""
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()))
  const exited = new Promise<Exit>((resolve) => child.on("exit", (code) => resolve({ code, stderr })))
  const listening = new Promise<string>((resolve) =>
    child.stdout.on("data", (chunk: Buffer) => {
      const port = /on port (\d+)/.exec(chunk.toString())?.[1]
      if (port !== undefined) resolve(`http://127.0.0.1:${port}`)
    })
  )
  const first = await Promise.race([listening, exited])
  if (typeof first !== "string") return first
  return {
    url: first,
    pid: child.pid ?? 0,
    stop: () => {
      child.kill("SIGTERM")
      return exited
    }
  }
}

export const start = async (config: unknown): Promise<Running> => {
  const running = await run({ PORT: "0", SVC_READY_CONFIG: JSON.stringify(config) })
  if (!("url" in running)) throw new Error(`The ready server stopped: ${running.stderr}`)
  return running
}
