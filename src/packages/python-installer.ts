import { type ImageError, storageError } from "#src/images/ImageError.ts"
import { Effect } from "effect"
import { type Python } from "./python.ts"

export interface PypiOptions {
  /** A folder that the installer may fill. */
  readonly folder: string
  readonly index: string
  readonly proxy: string
  readonly certificates: string | undefined
}

/** One version of a package, and the files of it that may be installed. */
export interface Pinned {
  readonly name: string
  readonly version: string
  /** sha256, in hexadecimal digits. */
  readonly hashes: ReadonlyArray<string>
}

/** pip or uv: what the host has. Neither runs anything of a package: both take wheels only. */
export interface PythonInstaller {
  /** The package and all that it needs, at exact versions. Installs nothing. */
  readonly resolve: (
    python: Python,
    options: PypiOptions,
    wanted: string
  ) => Effect.Effect<ReadonlyArray<Pinned>, ImageError>
  /** Installs what the file names into `site`, and nothing else. */
  readonly install: (
    python: Python,
    options: PypiOptions,
    requirements: string,
    site: string
  ) => Effect.Effect<void, ImageError>
}

/** Python code that limits the bytes of address space, and of one file. */
export const limits = `import resource
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))`

/** Nothing of the platform's. */
export const environment = (folder: string) => ({
  PATH: "/nonexistent",
  HOME: folder,
  TMPDIR: folder,
  PYTHONDONTWRITEBYTECODE: "1"
})

export const files = <A>(work: () => Promise<A>) =>
  Effect.tryPromise({ try: work, catch: storageError("Installing a package") })

/** How names of packages are compared (PEP 503). */
export const normalName = (name: string) => name.toLowerCase().replace(/[-_.]+/g, "-")
