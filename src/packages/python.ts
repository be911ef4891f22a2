import { type ImageError, imageError, storageError } from "#src/images/ImageError.ts"
import { entriesBelow } from "#src/images/layout.ts"
import { tied } from "#src/machines/tied-process.ts"
import { fingerprint } from "#src/ready-image/cached-layout.ts"
import { foldersOf, librariesOf } from "#src/ready-image/libraries.ts"
import { copied, libraryPath } from "#src/ready-image/node-runtime.ts"
import { Effect, Schema } from "effect"
import { execFile } from "node:child_process"
import { cp, readdir, realpath } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { appFolder, packageRuntime, type Runtime, sharedLayer } from "./package-image.ts"

const run = promisify(execFile)

/** The host's Python, as it describes itself. */
const Python = Schema.Struct({
  executable: Schema.String,
  prefix: Schema.String,
  version: Schema.String,
  stdlib: Schema.String,
  hasPip: Schema.Boolean,
  /** Where uv is, if it is on PATH. */
  uv: Schema.NullOr(Schema.String)
})
export type Python = typeof Python.Type

const describe = `import importlib.util, json, os, shutil, sys, sysconfig
print(json.dumps({"executable": os.path.realpath(sys.executable), "prefix": sys.base_prefix,
  "version": sys.version, "stdlib": os.path.realpath(sysconfig.get_path("stdlib")),
  "hasPip": importlib.util.find_spec("pip") is not None, "uv": shutil.which("uv")}))`

const decode = Schema.decodeUnknown(Schema.parseJson(Python))

const absent = (what: string) =>
  imageError(
    "unsupported",
    `packages of PyPI need ${what} on the host: its operator installs python3, and pip (python3-pip) or uv`
  )

/** The host's python3 with its pip, or uv; fails with what is missing. */
export const findPython: Effect.Effect<Python, ImageError> = Effect.gen(function*() {
  const { stdout } = yield* Effect.tryPromise({
    try: () => run("python3", ["-I", "-c", describe], { timeout: 20_000 }),
    catch: () => absent("python3")
  })
  const python = yield* Effect.mapError(decode(stdout), () => absent("a python3 that works"))
  return python.hasPip || python.uv !== null ? python : yield* absent("pip or uv beside python3")
})

/** Not needed to run programs. */
const leftOut = new Set([
  "__pycache__",
  "dist-packages",
  "ensurepip",
  "idlelib",
  "lib2to3",
  "pydoc_data",
  "site-packages",
  "test",
  "tests",
  "tkinter",
  "turtledemo",
  "venv"
])
const isLeftOut = (name: string) => leftOut.has(name) || /^config-\d|\.a$/.test(name)

/** Compiles for a place in an image, where no time of change is known (PEP 552). */
export const compileArgs = (from: string, to: string) => [
  "-I",
  "-m",
  "compileall",
  "-q",
  "--invalidation-mode",
  "unchecked-hash",
  "-s",
  from,
  "-p",
  to,
  from
]

const compiledLibrary = async ({ executable, stdlib }: Python, work: string) => {
  const copy = join(work, "stdlib")
  await cp(stdlib, copy, {
    recursive: true,
    dereference: true,
    filter: (path) => !isLeftOut(path.split("/").at(-1) ?? "")
  })
  // Files that are not for this version don't compile, and are not needed.
  const [program, ...args] = await tied(executable, compileArgs(copy, stdlib))
  await run(program, args, { timeout: 240_000, maxBuffer: 64_000_000 }).catch(() => undefined)
  return copy
}

/** What `files` need to be loaded, with themselves. */
const withLibraries = async (files: ReadonlyArray<string>) => {
  const libraries = [...new Set((await Promise.all(files.map(librariesOf))).flat())]
  return {
    files: await Promise.all(libraries.map(async (path) => ({ path, source: await realpath(path) }))),
    libraries
  }
}

const modulesOf = async ({ stdlib }: Python) => {
  const folder = join(stdlib, "lib-dynload")
  const names = await readdir(folder).catch(() => [])
  return names.filter((name) => name.endsWith(".so") && !name.startsWith("_tkinter")).map((name) => join(folder, name))
}

/** The runtime of packages for Node, and the host's Python with its standard library. */
export const pythonRuntime = (folder: string, python: Python): Effect.Effect<Runtime, ImageError> =>
  Effect.gen(function*() {
    const base = yield* packageRuntime(folder)
    const { executable, prefix, stdlib, version } = python
    return yield* Effect.tryPromise({
      try: async () => {
        const needed = await withLibraries([executable, ...await modulesOf(python)])
        const files = [{ path: executable, source: executable }, ...needed.files]
        const inputs = await fingerprint(files, version, stdlib)
        const layer = await sharedLayer(join(folder, "runtime-python"), inputs, async (scratch) => [
          ...files.map(copied),
          ...await Effect.runPromise(entriesBelow(await compiledLibrary(python, scratch), stdlib.slice(1)))
        ])
        const folders = foldersOf(needed.libraries)
        return {
          ...base,
          layers: [...base.layers, layer],
          identity: `${base.identity} ${layer.descriptor.digest}`,
          env: [
            ...base.env.filter((variable) => !variable.startsWith("LD_LIBRARY_PATH=")),
            ...libraryPath([...base.libraryFolders, ...folders]),
            `PYTHONHOME=${prefix}`,
            `PYTHONPATH=${appFolder}/site`,
            "PYTHONUNBUFFERED=1",
            "PYTHONDONTWRITEBYTECODE=1"
          ]
        }
      },
      catch: storageError("Making the runtime of Python packages")
    })
  })
