import { type Programs } from "#src/format/package-programs.ts"
import { type ImageError, imageError } from "#src/images/ImageError.ts"
import { Either } from "effect"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { type Locked } from "./Package.ts"
import { normalName } from "./python-installer.ts"
import { type Python } from "./python.ts"

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

export const pythonPrograms = async (
  site: string,
  { name }: Locked,
  python: Python
): Promise<Either.Either<Programs, ImageError>> => {
  const infos = (await readdir(site)).filter((entry) => entry.endsWith(".dist-info"))
  const info = infos.find((entry) => normalName(entry.slice(0, entry.indexOf("-"))) === normalName(name)) ?? ""
  const text = await readFile(join(site, info, "entry_points.txt"), "utf8").catch(() => "")
  const scripts = consoleScripts(text)
  const programs = Object.fromEntries(
    scripts.map((script) => [script[0], [python.executable, "-c", startOf(...script)]])
  )
  const [first] = scripts
  if (first === undefined) {
    return Either.left(
      imageError(
        "invalid_image",
        `the package ${name} has no program (console_scripts), so it can't be started as a server`
      )
    )
  }
  const main = scripts.length === 1
    ? first[0]
    : scripts.find(([script]) => normalName(script) === normalName(name))?.[0] ?? null
  return Either.right({ main, programs })
}
