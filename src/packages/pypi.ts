import { imageError } from "#src/images/ImageError.ts"
import { Effect } from "effect"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type Locked } from "./Package.ts"
import { pip } from "./pip.ts"
import { environment, files, normalName, type PypiOptions } from "./python-installer.ts"
import { pythonPrograms } from "./python-programs.ts"
import { compileArgs, findPython, type Python } from "./python.ts"
import { type PackageReference, requirement } from "./reference.ts"
import { runInstaller } from "./run-installer.ts"
import { uv } from "./uv.ts"

const installerOf = ({ hasPip }: Python) => hasPip ? pip : uv

const hash = /^[0-9a-f]{64}$/

/** Resolves a package and everything that it needs to exact versions and hashes. Installs nothing. */
export const lockPypi = Effect.fn("packages.lockPypi")(function*(options: PypiOptions, reference: PackageReference) {
  const python = yield* findPython
  const wanted = requirement(reference)
  const pinned = yield* installerOf(python).resolve(python, options, wanted)
  for (const { hashes, name } of pinned) {
    if (hashes.length === 0 || !hashes.every((one) => hash.test(one))) {
      return yield* imageError("invalid_image", `${name} is not a wheel of the index`)
    }
  }
  const found = pinned.find(({ name }) => normalName(name) === normalName(reference.name))
  if (found === undefined) return yield* imageError("invalid_image", `${reference.name} was not resolved`)
  const lines = pinned.map(({ hashes, name, version }) =>
    [`${name}==${version}`, ...[...hashes].sort().map((one) => `--hash=sha256:${one}`)].join(" ")
  )
  return {
    name: found.name,
    version: found.version,
    lock: `${lines.sort().join("\n")}\n`,
    notes: [`${wanted} is version ${found.version}, with ${pinned.length - 1} other packages`],
    // Wheels have none.
    withScripts: []
  } satisfies Locked
})

/** Installs exactly what the lock says into `site` of the folder. */
export const installPypi = Effect.fn("packages.installPypi")(function*(options: PypiOptions, locked: Locked) {
  const { folder } = options
  const python = yield* findPython
  const [site, requirements] = [join(folder, "site"), join(folder, "requirements.txt")]
  yield* files(async () => {
    await mkdir(site, { recursive: true })
    await writeFile(requirements, locked.lock)
  })
  yield* installerOf(python).install(python, options, requirements, site)
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
