import { Either } from "effect"
import { type ImageError, imageError } from "./ImageError.ts"

const maxName = 255
const maxPath = 4095
const maxDepth = 256

const whiteout = ".wh."
const opaque = ".wh..wh..opq"

/** What a layer's entry does: it sets a path of the root file system, or removes one of the layers below. */
export type EntryPath =
  | { readonly _tag: "Place"; readonly parts: ReadonlyArray<string> }
  | { readonly _tag: "Whiteout"; readonly parts: ReadonlyArray<string> }
  /** Hides everything that lower layers put into the directory. */
  | { readonly _tag: "Opaque"; readonly parts: ReadonlyArray<string> }
  /** Bookkeeping of AUFS: other `.wh..wh.` names. */
  | { readonly _tag: "Ignored" }

export const hostile = (why: string): ImageError => imageError("hostile_layer", `A layer is refused: ${why}`)

export const shown = (path: string): string => JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path)

/** Splits a name of an archive into its components. Refuses absolute names, `..`, NUL and names that are too long. */
export const pathParts = (name: string): Either.Either<ReadonlyArray<string>, ImageError> => {
  if (name.startsWith("/")) return Either.left(hostile(`the path ${shown(name)} is absolute`))
  if (name.includes("\0")) return Either.left(hostile(`the path ${shown(name)} holds a NUL`))
  const parts = name.split("/").filter((part) => part !== "" && part !== ".")
  if (parts.includes("..")) return Either.left(hostile(`the path ${shown(name)} climbs with ..`))
  const tooLong = Buffer.byteLength(name) > maxPath || parts.length > maxDepth ||
    parts.some((part) => Buffer.byteLength(part) > maxName)
  return tooLong ? Either.left(hostile(`the path ${shown(name)} is too long`)) : Either.right(parts)
}

/** Reads an entry's name by the rules of image-spec, layer.md ("Whiteouts"). */
export const entryPath = (name: string): Either.Either<EntryPath, ImageError> =>
  Either.flatMap(pathParts(name), (parts): Either.Either<EntryPath, ImageError> => {
    const last = parts.at(-1) ?? ""
    const parent = parts.slice(0, -1)
    if (parent.some((part) => part.startsWith(whiteout))) {
      return Either.left(hostile(`the path ${shown(name)} goes through a whiteout`))
    }
    if (!last.startsWith(whiteout)) return Either.right({ _tag: "Place", parts })
    if (last === opaque) return Either.right({ _tag: "Opaque", parts: parent })
    if (last.startsWith(whiteout + whiteout)) return Either.right({ _tag: "Ignored" })
    const hidden = last.slice(whiteout.length)
    return hidden === "" || hidden === "." || hidden === ".."
      ? Either.left(hostile(`the whiteout ${shown(name)} names no file`))
      : Either.right({ _tag: "Whiteout", parts: [...parent, hidden] })
  })
