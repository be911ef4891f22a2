import { type Programs } from "#src/format/package-programs.ts"
import { type ImageError, imageError } from "#src/images/ImageError.ts"
import { Either, Schema } from "effect"
import { lstat, open, readFile } from "node:fs/promises"
import { extname, join, posix } from "node:path"

const Manifest = Schema.parseJson(Schema.Struct({
  bin: Schema.optional(Schema.Union(Schema.String, Schema.Record({ key: Schema.String, value: Schema.String })))
}))

const programName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

/** The path within the package, or undefined when it leaves it (npm, package.json, bin). */
const within = (path: string) => {
  const normal = posix.normalize(path)
  return path.includes("\0") || posix.isAbsolute(normal) || normal.split("/")[0] === ".." ? undefined : normal
}

const elf = "\x7fELF"

/**
 * What npm's link to a file would run it with: by its first line, by itself where it is a binary, and where neither
 * says anything with Node, which is what its author means. Nothing for other interpreters, which machines lack.
 */
const commandOf = async (file: string, place: string, node: string): Promise<ReadonlyArray<string> | undefined> => {
  if (!(await lstat(file).then((stats) => stats.isFile(), () => false))) return undefined
  const handle = await open(file)
  try {
    const head = Buffer.alloc(128)
    await handle.read(head, 0, head.length, 0)
    const [first = ""] = head.toString("latin1").split("\n")
    if (first.startsWith(elf)) return [place]
    const onNode = first.startsWith("#!") ? /\bnode\b/.test(first) : /^(?:\.[cm]?js)?$/.test(extname(place))
    return onNode ? [node, place] : undefined
  } finally {
    await handle.close()
  }
}

/**
 * The programs that a package brings, and the one that its name means: the only one, or the one that is called like the
 * package (as npx chooses).
 *
 * @param folder where the package was installed
 * @param place where that is in the image
 */
export const npmPrograms = async (
  folder: string,
  place: string,
  name: string,
  node: string
): Promise<Either.Either<Programs, ImageError>> => {
  const manifest = Schema.decodeUnknownEither(Manifest)(await readFile(join(folder, "package.json"), "utf8"))
  const bin = Either.isRight(manifest) ? manifest.right.bin : undefined
  const own = name.slice(name.indexOf("/") + 1)
  const named = typeof bin === "string" ? { [own]: bin } : bin ?? {}
  const programs: Record<string, ReadonlyArray<string>> = {}
  for (const [program, path] of Object.entries(named)) {
    const inside = within(path)
    if (!programName.test(program) || inside === undefined) continue
    const command = await commandOf(join(folder, inside), posix.join(place, inside), node)
    if (command !== undefined) programs[program] = command
  }
  const names = Object.keys(programs)
  if (names.length === 0) {
    return Either.left(
      imageError(
        "invalid_image",
        `the package ${name} has no program that runs on Node or by itself (bin), so there is nothing to start`
      )
    )
  }
  const same = new Set(Object.values(programs).map((command) => command.join(" "))).size === 1
  const main = same ? names[0]! : Object.hasOwn(programs, own) ? own : null
  return Either.right({ main, programs })
}
