import { Effect, Either, Schema } from "effect"
import { lstat, readFile, stat } from "node:fs/promises"
import { join, posix } from "node:path"
import { folderError } from "./FolderError.ts"

const Texts = Schema.Record({ key: Schema.String, value: Schema.String })

const Manifest = Schema.parseJson(Schema.Struct({
  name: Schema.optional(Schema.String),
  bin: Schema.optional(Schema.Union(Schema.String, Texts)),
  scripts: Schema.optional(Texts),
  dependencies: Schema.optional(Texts)
}))
type Manifest = typeof Manifest.Type

const decode = Schema.decodeUnknownEither(Manifest)

/** How a project of Node is started. */
export interface NodeProgram {
  /** The package's name, if it has one. */
  readonly name: string | undefined
  /** The program's file, below the folder. */
  readonly file: string
  /** Node's own arguments before it, and the program's after it. */
  readonly before: ReadonlyArray<string>
  readonly after: ReadonlyArray<string>
  /** What in package.json says so. */
  readonly by: string
  /** What it depends on, as versions, ranges, or what else package.json says. */
  readonly wants: ReadonlyArray<string>
}

/** Characters by which a shell does more than start a program. */
const needsShell = /[|&;<>()$`\\*?#~=%\n]/

const wordsOf = (script: string) =>
  [...script.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? "")

const byStart = (script: string) =>
  Effect.gen(function*() {
    const [program, ...words] = wordsOf(script)
    const at = words.findIndex((word) => !word.startsWith("-"))
    if (program !== "node" || needsShell.test(script) || at < 0) {
      return yield* folderError(
        `The start script of package.json is ${
          JSON.stringify(script)
        }: the image has Node and no shell, so it must be ` +
          "\"node FILE\" with arguments. Change it, or add a Dockerfile"
      )
    }
    return { file: words[at] ?? "", before: words.slice(0, at), after: words.slice(at + 1), by: "its start script" }
  })

const byBin = ({ bin, name = "" }: Manifest) =>
  Effect.gen(function*() {
    const own = name.slice(name.indexOf("/") + 1)
    const named = typeof bin === "string" ? { [own]: bin } : bin ?? {}
    const paths = [...new Set(Object.values(named))]
    const file = paths.length === 1 ? paths[0] : named[own]
    if (file !== undefined) return { file, before: [], after: [], by: "its bin" }
    return yield* folderError(
      paths.length === 0
        ? "package.json has neither a start script nor a bin: one of them says how the server is started"
        : `package.json has several programs (${
          Object.keys(named).join(", ")
        }): name the server's in a start script, ` +
          "such as \"node server.js\""
    )
  })

const isFile = (path: string) => stat(path).then((stats) => stats.isFile(), () => false)

/** The part of a path below the folder that is a link, if one is: links don't go into the image. */
const linkOf = async (folder: string, file: string) => {
  const parts = file.split("/")
  for (let count = 1; count <= parts.length; count++) {
    const path = parts.slice(0, count).join("/")
    if (await lstat(join(folder, path)).then((stats) => stats.isSymbolicLink(), () => false)) return path
  }
  return undefined
}

/** What package.json says of a project's program, which must be there already. */
export const nodeProgram = Effect.fn("folder.nodeProgram")(function*(folder: string) {
  const text = yield* Effect.promise(() => readFile(join(folder, "package.json"), "utf8"))
  const manifest = yield* Either.mapLeft(
    decode(text),
    () => folderError("package.json can't be read: it is not a manifest of npm")
  )
  const start = manifest.scripts?.["start"]
  const found = yield* start === undefined ? byBin(manifest) : byStart(start)
  const file = posix.normalize(found.file)
  if (posix.isAbsolute(file) || file.startsWith("..")) {
    return yield* folderError(`The program of package.json (${found.file}) is outside of the folder`)
  }
  const link = yield* Effect.promise(() => linkOf(folder, file))
  if (link !== undefined) {
    return yield* folderError(
      `The program of package.json (${found.file}) is behind a link (${link}), and links are left out of the image: name ` +
        "the file itself, in the folder"
    )
  }
  if (!(yield* Effect.promise(() => isFile(join(folder, file))))) {
    const build = manifest.scripts?.["build"] === undefined ? "" : ". Build it first: npm run build"
    return yield* folderError(`${file}, which package.json names (${found.by}), is not there${build}`)
  }
  return {
    ...found,
    file,
    name: manifest.name,
    wants: Object.values(manifest.dependencies ?? {})
  } satisfies NodeProgram
})
