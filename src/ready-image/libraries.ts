import { execFile } from "node:child_process"
import { readdir, realpath } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { promisify } from "node:util"

const run = promisify(execFile)

/** A file of the image and its source on the host. */
export interface ImageFile {
  readonly path: string
  readonly source: string
}

/** Directories that ld.so searches by default; libraries elsewhere need `LD_LIBRARY_PATH`. */
const searchedByDefault = /^\/(usr\/)?lib(64|32)?(\/[a-z0-9_]+-linux-[a-z0-9]+)?$/

/** The lines of ldd that name a file: `libm.so.6 => /lib/…/libm.so.6 (0x…)`, `/lib64/ld-linux-x86-64.so.2 (0x…)`. */
export const parseLdd = (output: string): ReadonlyArray<string> => {
  const missing = /^\s*(\S+) => not found/m.exec(output)
  if (missing !== null) throw new Error(`The library ${missing[1]} is not installed`)
  return [...new Set(output.split("\n").flatMap((line) => /(?:=>\s+|^\s*)(\/\S+) \(0x/.exec(line)?.[1] ?? []))].sort()
}

/** Every library that a binary is linked with, at the path at which the loader opens it. */
export const librariesOf = async (binary: string): Promise<ReadonlyArray<string>> => {
  try {
    return parseLdd((await run("ldd", [binary])).stdout)
  } catch (error) {
    // A static binary: glibc's ldd says so and fails.
    const text = String((error as { readonly stderr?: unknown }).stderr ?? "") + String(error)
    if (/not a dynamic executable|Not a valid dynamic program/i.test(text)) return []
    throw error
  }
}

/** Folders of libraries that ld.so must be told of. */
export const foldersOf = (libraries: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(libraries.map((path) => dirname(path)).filter((directory) => !searchedByDefault.test(directory)))
]

/**
 * Libraries of glibc that Node itself may not be linked with, and programs in packages are: those of .NET, Go (cgo) and
 * Rust. Since glibc 2.34 most are empty, and still looked for by what was linked before.
 */
const others = /^lib(?:anl|dl|nss_(?:compat|dns|files)|pthread|resolv|rt|util)\.so\.\d+$/

/** Those of them that lie beside the libc of these libraries. */
export const besideLibc = async (libraries: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const libc = libraries.find((path) => basename(path) === "libc.so.6")
  if (libc === undefined) return []
  const found = (await readdir(dirname(libc))).filter((name) => others.test(name)).map((name) =>
    join(dirname(libc), name)
  )
  return found.filter((path) => !libraries.includes(path)).sort()
}

/** Distributions may build Node with parts outside the binary (Debian: below /usr/share/nodejs). */
const externalBuiltins = async (): Promise<ReadonlyArray<ImageFile>> => {
  const embedded = (process.config.variables as { readonly node_builtin_shareable_builtins?: ReadonlyArray<string> })
    .node_builtin_shareable_builtins ?? []
  const parts = ["acorn", "cjs-module-lexer", "minimatch", "undici"].filter((name) =>
    !embedded.some((path) => path.includes(`deps/${name}/`))
  )
  const files = await Promise.all(parts.map(async (name) => {
    const root = `/usr/share/nodejs/${name}`
    const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => [])
    return entries.filter((entry) => /\.(js|json|wasm)$/.test(entry.name) && !entry.isDirectory())
      .map((entry) => `${entry.parentPath ?? entry.path}/${entry.name}`)
  }))
  return files.flat().map((path) => ({ path, source: path }))
}

/**
 * A Node, the one that runs this or another, and every library it is linked with, each at the path at which the loader opens it. Symbolic links
 * of the host (`/lib` to `/usr/lib`, `libstdc++.so.6` to its version) become plain files, so that none dangles.
 */
export const nodeFiles = async (program: string): Promise<{
  readonly node: string
  readonly files: ReadonlyArray<ImageFile>
  readonly libraryFolders: ReadonlyArray<string>
}> => {
  const binary = await realpath(program)
  const linked = await librariesOf(binary)
  const libraries = [...linked, ...await besideLibc(linked)]
  const node = "/usr/local/bin/node"
  return {
    node,
    files: [
      { path: node, source: binary },
      ...await Promise.all(libraries.map(async (path) => ({ path, source: await realpath(path) }))),
      ...program === process.execPath ? await externalBuiltins() : []
    ],
    libraryFolders: foldersOf(libraries)
  }
}
