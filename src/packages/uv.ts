import { imageError } from "#src/images/ImageError.ts"
import { Effect } from "effect"
import { readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { environment, files, limits, type Pinned, type PypiOptions, type PythonInstaller } from "./python-installer.ts"
import { type Python } from "./python.ts"
import { runInstaller } from "./run-installer.ts"

/** uv frames its complaint with signs, and tells its progress before it. */
export const uvComplaint = (message: string): string =>
  message.replace(/^uv failed: /, "").split("\n")
    .map((line) => line.replace(/^[\s×│├╰─▶]+/u, "").replace(/^error: /, "").trim())
    .filter((line) => line !== "" && !/^(?:warning:|Using |Resolved |Prepared |Downloading )/.test(line))
    .join(" ").slice(0, 1_000)

/** The limits hold for the program that takes Python's place. */
const start = `${limits}
import os, sys
os.execv(sys.argv[1], sys.argv[1:])`

const runUv = (
  { executable, uv }: Python,
  { certificates, folder, index, proxy }: PypiOptions,
  [command, ...args]: ReadonlyArray<string>
) =>
  runInstaller({
    name: "uv",
    program: executable,
    args: [
      "-I",
      "-c",
      start,
      uv ?? "uv",
      "pip",
      command ?? "",
      `--python=${executable}`,
      // Neither the host's configuration nor another Python counts.
      "--no-config",
      "--no-python-downloads",
      "--no-cache",
      "--no-progress",
      "--color=never",
      `--default-index=${index}`,
      // Only wheels: anything else would run the package's own code to be built.
      "--only-binary=:all:",
      ...args
    ],
    cwd: folder,
    env: {
      ...environment(folder),
      HTTP_PROXY: proxy,
      HTTPS_PROXY: proxy,
      ALL_PROXY: proxy,
      ...certificates === undefined ? {} : { SSL_CERT_FILE: certificates }
    }
  }).pipe(Effect.mapError((error) => {
    const complaint = uvComplaint(error.message)
    return complaint === "" ? error : imageError(error.reason, `uv failed: ${complaint}`)
  }))

/** A line of what `uv pip compile` writes: `name==1.2.3`, and its hashes. */
const line = /^([A-Za-z0-9][A-Za-z0-9._-]*)==(\S+)((?:\s+--hash=sha256:[0-9a-f]{64})*)$/

/** Reads a compiled file of requirements, whose lines may go on after a backslash. What it does not know has no hash. */
export const readCompiled = (text: string): ReadonlyArray<Pinned> =>
  text.replaceAll(/\\\n/g, " ").split("\n").flatMap((one) => {
    const trimmed = one.trim()
    if (trimmed === "" || trimmed.startsWith("#")) return []
    const [, name = trimmed, version = "", hashes = ""] = line.exec(trimmed) ?? []
    return [{ name, version, hashes: [...hashes.matchAll(/sha256:(\w+)/g)].map(([, sha256 = ""]) => sha256) }]
  })

export const uv: PythonInstaller = {
  resolve: Effect.fn("packages.uv.resolve")(function*(python, options, wanted) {
    const [from, to] = [join(options.folder, "wanted.in"), join(options.folder, "resolved.txt")]
    yield* files(() => writeFile(from, `${wanted}\n`))
    yield* runUv(python, options, [
      "compile",
      "--generate-hashes",
      "--no-header",
      "--no-annotate",
      "-o",
      to,
      from
    ])
    return readCompiled(yield* files(() => readFile(to, "utf8")))
  }),
  install: Effect.fn("packages.uv.install")(function*(python, options, requirements, site) {
    yield* runUv(python, options, [
      "install",
      "--no-deps",
      "--require-hashes",
      "--link-mode=copy",
      `--target=${site}`,
      "-r",
      requirements
    ])
    // uv's own, for other processes of uv.
    yield* files(() => rm(join(site, ".lock"), { force: true }))
  })
}
