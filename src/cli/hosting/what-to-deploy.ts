import { CliFailure } from "#src/cli/CliFailure.ts"
import { exitCodes } from "#src/cli/exit-codes.ts"
import { Console, Effect, Either, Option, Schema } from "effect"
import { readFile, realpath, stat } from "node:fs/promises"
import { basename, dirname, join, relative, resolve } from "node:path"
import { ServerFile } from "./ServerFile.ts"
import { fileName, loadServerFile } from "./target.ts"

const isFolder = (path: string) => stat(path).then((stats) => stats.isDirectory(), () => false)
const isThere = (path: string) => stat(path).then(() => true, () => false)

/** The written path of a folder; what else could be one is an image, unless a folder of that name is there. */
const looksLikePath = (word: string) => /^(\.{1,2}$|\.{0,2}\/|~\/)/.test(word)

/** The absolute path of the folder that a word means; undefined for an image. */
const folderOf = Effect.fnUntraced(function*(word: string, from: string) {
  if (/^(oci|npm|pypi):/.test(word)) return undefined
  const path = resolve(from, word)
  if (yield* Effect.promise(() => isFolder(path))) return path
  if (!looksLikePath(word)) return undefined
  return yield* new CliFailure({ message: `There is no folder ${word}`, code: exitCodes.badFile })
})

/** The same of `server.image`: a file that somebody else wrote must not send what is beside or above its folder. */
const folderBelow = Effect.fnUntraced(function*(word: string, config: string) {
  const from = dirname(resolve(config))
  const path = yield* folderOf(word, from)
  if (path === undefined) return undefined
  const below = yield* Effect.promise(async () => relative(await realpath(from), await realpath(path)))
  if (below !== ".." && !below.startsWith("../")) return path
  return yield* new CliFailure({
    message:
      `server.image of ${config} is ${word}, which is outside of the file's folder: write . or ./name, or give ` +
      `the folder to the command: berth deploy ${word}`,
    code: exitCodes.badFile
  })
})

const Named = Schema.parseJson(Schema.Struct({ name: Schema.String }))
const decodeFile = Schema.decodeUnknownEither(ServerFile)

const brief = (name: string) => name.length > 40 ? `${name.slice(0, 39).toWellFormed()}…` : name

/** What berth.toml would say at the least, of a folder that has none: all is named like the package, or the folder. */
const fileLike = Effect.fnUntraced(function*(folder: string) {
  const text = yield* Effect.promise(() => readFile(join(folder, "package.json"), "utf8").catch(() => ""))
  const { name, whose } = Either.match(Schema.decodeUnknownEither(Named)(text), {
    onLeft: () => ({ whose: "its name", name: basename(folder) }),
    onRight: ({ name }) => ({ whose: "the name in its package.json", name: name.slice(name.indexOf("/") + 1) })
  })
  const file = Either.getOrUndefined(decodeFile({ project: { name }, server: { name } }))
  if (file === undefined) {
    return yield* new CliFailure({
      message:
        `There is no ${fileName} in ${folder}, and ${whose}, ${JSON.stringify(brief(name))}, can't name a project ` +
        "and a server: berth init --name NAME writes one",
      code: exitCodes.badFile
    })
  }
  yield* Console.error(`There is no ${fileName}: the project and the server are named ${name}`)
  return file
})

/**
 * The folder or image to deploy, and the file that says of which server. A folder brings its own berth.toml, and may do
 * without; `server.image` may be a folder too, from where the file is.
 */
export const whatToDeploy = Effect.fn("cli.whatToDeploy")(function*(image: Option.Option<string>, config: string) {
  const folder = Option.isSome(image) ? yield* folderOf(image.value, ".") : undefined
  const isDefault = config === fileName
  const own = folder === undefined || !isDefault ? config : join(folder, fileName)
  const here = yield* Effect.promise(() => isThere(own))
  if (folder !== undefined) {
    const file = isDefault && !here && !(yield* Effect.promise(() => isThere(config)))
      ? yield* fileLike(folder)
      : yield* loadServerFile(here ? own : config)
    return { file, chosen: { folder } as const }
  }
  const file = yield* loadServerFile(config)
  const word = Option.getOrElse(image, () => file.server.image)
  if (word === undefined) {
    return yield* new CliFailure({
      message: `Say what to deploy: berth deploy . for this folder, berth deploy IMAGE, or server.image in ${config}`,
      code: exitCodes.failed
    })
  }
  const named = Option.isNone(image) && looksLikePath(word)
    ? yield* folderBelow(word, config)
    : undefined
  return { file, chosen: named === undefined ? { image: word } as const : { folder: named } as const }
})
