import { imageError } from "#src/images/ImageError.ts"
import { Effect, Schema } from "effect"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { environment, files, limits, type PypiOptions, type PythonInstaller } from "./python-installer.ts"
import { type Python } from "./python.ts"
import { runInstaller } from "./run-installer.ts"

/** pip's report of what it would install (pip, "Installation report"). */
const Report = Schema.parseJson(Schema.Struct({
  install: Schema.Array(Schema.Struct({
    is_direct: Schema.Boolean,
    download_info: Schema.Struct({
      archive_info: Schema.optional(Schema.Struct({
        hashes: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.String }))
      }))
    }),
    metadata: Schema.Struct({ name: Schema.String, version: Schema.String })
  }))
}))

const start = `${limits}
import runpy, sys
sys.argv[0] = "pip"
runpy.run_module("pip", run_name="__main__", alter_sys=True)`

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

export const pip: PythonInstaller = {
  resolve: Effect.fn("packages.pip.resolve")(function*(python, options, wanted) {
    const report = join(options.folder, "report.json")
    yield* runPip(python, options, ["--dry-run", "--ignore-installed", `--report=${report}`, "--", wanted])
    const text = yield* files(() => readFile(report, "utf8"))
    const { install } = yield* Effect.mapError(
      Schema.decodeUnknown(Report)(text),
      () => imageError("unsupported", "the host's pip wrote a report that can't be read: pip 22.2 or newer is needed")
    )
    return install.map(({ download_info, is_direct, metadata: { name, version } }) => {
      const sha256 = download_info.archive_info?.hashes?.["sha256"]
      return { name, version, hashes: is_direct || sha256 === undefined ? [] : [sha256] }
    })
  }),
  install: (python, options, requirements, site) =>
    Effect.asVoid(runPip(python, options, [
      "--no-deps",
      "--require-hashes",
      "--no-compile",
      `--target=${site}`,
      `--requirement=${requirements}`
    ]))
}
