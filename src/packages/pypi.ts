import { type Programs } from "#src/format/package-programs.ts"
import { type ImageError, imageError, storageError } from "#src/images/ImageError.ts"
import { Effect, Either, Schema } from "effect"
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type Locked } from "./Package.ts"
import { compileArgs, findPython, type Python } from "./python.ts"
import { type PackageReference, requirement } from "./reference.ts"
import { runInstaller } from "./run-installer.ts"

export interface PypiOptions {
  /** A folder that pip may fill. */
  readonly folder: string
  readonly index: string
  readonly proxy: string
  readonly certificates: string | undefined
}

/** pip's report of what it would install (pip, "Installation report"). */
const Report = Schema.parseJson(Schema.Struct({
  install: Schema.Array(Schema.Struct({
    is_direct: Schema.Boolean,
    requested: Schema.Boolean,
    download_info: Schema.Struct({
      archive_info: Schema.optional(Schema.Struct({
        hashes: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.String }))
      }))
    }),
    metadata: Schema.Struct({ name: Schema.String, version: Schema.String })
  }))
}))

/** Bytes of address space, and of one file. */
const start = `import resource, runpy, sys
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
sys.argv[0] = "pip"
runpy.run_module("pip", run_name="__main__", alter_sys=True)`

const files = <A>(work: () => Promise<A>) =>
  Effect.tryPromise({ try: work, catch: storageError("Installing a package") })

const environment = (folder: string) => ({
  PATH: "/nonexistent",
  HOME: folder,
  TMPDIR: folder,
  PYTHONDONTWRITEBYTECODE: "1"
})

const told = (message: string) =>
  message.split("\n").filter((line) => /^(?:pip failed: )?ERROR:/.test(line)).map((line) =>
    line.replace(/^(?:pip failed: )?ERROR: /, "")
  ).join(" ").slice(0, 1_000)

const runPip = (python: Python, { certificates, folder, index, proxy }: PypiOptions, args: ReadonlyArray<string>) =>
  runInstaller({
    name: "pip",
    program: python.executable,
    args: [
      "-I",
      "-c",
      start,
      // Neither variables nor the host's configuration count.
      "--isolated",
      "--no-input",
      "--disable-pip-version-check",
      "--no-cache-dir",
      "--no-color",
      `--proxy=${proxy}`,
      ...certificates === undefined ? [] : [`--cert=${certificates}`],
      "install",
      "--quiet",
      `--index-url=${index}`,
      "--trusted-host=127.0.0.1",
      // Only wheels: anything else would run the package's own code to be built.
      "--only-binary=:all:",
      ...args
    ],
    cwd: folder,
    env: environment(folder)
  }).pipe(Effect.mapError((error) => {
    const errors = told(error.message)
    return errors === "" ? error : imageError(error.reason, `pip failed: ${errors}`)
  }))

const hash = /^[0-9a-f]{64}$/

/** Resolves a package and everything that it needs to exact versions and hashes, as pip does. Installs nothing. */
export const lockPypi = Effect.fn("packages.lockPypi")(function*(options: PypiOptions, reference: PackageReference) {
  const python = yield* findPython
  const report = join(options.folder, "report.json")
  yield* runPip(python, options, [
    "--dry-run",
    "--ignore-installed",
    `--report=${report}`,
    "--",
    requirement(reference)
  ])
  const text = yield* files(() => readFile(report, "utf8"))
  const { install } = yield* Effect.mapError(
    Schema.decodeUnknown(Report)(text),
    () => imageError("unsupported", "the host's pip wrote a report that can't be read: pip 22.2 or newer is needed")
  )
  const lines: Array<string> = []
  for (const { download_info, is_direct, metadata: { name, version } } of install) {
    const sha256 = download_info.archive_info?.hashes?.["sha256"] ?? ""
    if (is_direct || !hash.test(sha256)) {
      return yield* imageError("invalid_image", `${name} is not a wheel of the index`)
    }
    lines.push(`${name}==${version} --hash=sha256:${sha256}`)
  }
  const found = install.find(({ requested }) => requested)?.metadata
  if (found === undefined) return yield* imageError("invalid_image", `pip did not resolve ${reference.name}`)
  return {
    name: found.name,
    version: found.version,
    lock: `${lines.sort().join("\n")}\n`,
    notes: [`${requirement(reference)} is version ${found.version}, with ${install.length - 1} other packages`],
    // Wheels have none.
    withScripts: []
  } satisfies Locked
})

const entryPoint = /^([A-Za-z0-9][A-Za-z0-9._-]{0,127})\s*=\s*([A-Za-z_][\w.]*)\s*:\s*([A-Za-z_][\w.]*)/

/** The console scripts of entry_points.txt (Python packaging, "Entry points"). */
export const consoleScripts = (
  text: string
): ReadonlyArray<readonly [name: string, module: string, attribute: string]> => {
  const [, section = ""] = text.split(/^\[console_scripts\][^\S\n]*$/m)
  // Until the next section.
  return (section.split(/^\[/m)[0] ?? "").split("\n").flatMap((line) => {
    const [, name, module, attribute] = entryPoint.exec(line.trim()) ?? []
    return name === undefined ? [] : [[name, module!, attribute!] as const]
  })
}

const startOf = (name: string, module: string, attribute: string) =>
  `import importlib, sys; sys.argv[0] = "${name}"; f = importlib.import_module("${module}")\n` +
  `for part in "${attribute}".split("."): f = getattr(f, part)\nsys.exit(f())`

/** How names of packages are compared (PEP 503). */
const normal = (name: string) => name.toLowerCase().replace(/[-_.]+/g, "-")

const pythonPrograms = async (
  site: string,
  { name }: Locked,
  python: Python
): Promise<Either.Either<Programs, ImageError>> => {
  const infos = (await readdir(site)).filter((entry) => entry.endsWith(".dist-info"))
  const info = infos.find((entry) => normal(entry.slice(0, entry.indexOf("-"))) === normal(name)) ?? ""
  const text = await readFile(join(site, info, "entry_points.txt"), "utf8").catch(() => "")
  const scripts = consoleScripts(text)
  const programs = Object.fromEntries(
    scripts.map((script) => [script[0], [python.executable, "-c", startOf(...script)]])
  )
  const [first] = scripts
  if (first === undefined) {
    return Either.left(
      imageError("invalid_image", `the package ${name} has no program (console_scripts): it is no server`)
    )
  }
  const main = scripts.length === 1
    ? first[0]
    : scripts.find(([script]) => normal(script) === normal(name))?.[0] ?? null
  return Either.right({ main, programs })
}

/** Installs exactly what the lock says into `site` of the folder. */
export const installPypi = Effect.fn("packages.installPypi")(function*(options: PypiOptions, locked: Locked) {
  const { folder } = options
  const python = yield* findPython
  const [site, requirements] = [join(folder, "site"), join(folder, "requirements.txt")]
  yield* files(async () => {
    await mkdir(site, { recursive: true })
    await writeFile(requirements, locked.lock)
  })
  const install = ["--no-deps", "--require-hashes", "--no-compile", `--target=${site}`, `--requirement=${requirements}`]
  yield* runPip(python, options, install)
  // A file that does not compile is found when it is loaded.
  yield* Effect.ignore(runInstaller({
    name: "Python",
    program: python.executable,
    args: compileArgs(site, "/app/site"),
    cwd: folder,
    env: environment(folder)
  }))
  return yield* yield* files(() => pythonPrograms(site, locked, python))
})
