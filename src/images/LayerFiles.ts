import { Either } from "effect"
import { entryPath, hostile } from "./entry-path.ts"
import { imageError } from "./ImageError.ts"
import { type LayerTarget } from "./layers.ts"
import { type TreeEntry } from "./Tree.ts"

/** Which files are looked for, and what is kept of each. */
export interface Wanted<A> {
  /** The most bytes that are read of a file at the path; undefined for a file that nobody looks for. */
  readonly most: (path: string) => number | undefined
  /** What is kept; `bytes` is undefined for a file of more bytes, or one that can't be read. */
  readonly keep: (path: string, bytes: Buffer | undefined) => A
}

interface Place<A> {
  value?: { readonly kept: A }
  readonly below: Map<string, Place<A>>
}

/** Far more than any real image has: a real one of ten thousand packages has fewer. */
const mostFiles = 100_000

const empty = <A>(): Place<A> => ({ below: new Map() })

/**
 * Finds files in the layers of an image as its root file system would have them: whiteouts and replaced folders count
 * (image-spec, layer.md). Keeps the wanted paths alone, so that its memory does not grow with the image.
 */
export class LayerFiles<A> implements LayerTarget {
  readonly #wanted: Wanted<A>
  /** Of the layers below: only these are hidden by whiteouts of the present one. */
  #lower = empty<A>()
  #layer = empty<A>()
  #count = 0

  constructor(wanted: Wanted<A>) {
    this.#wanted = wanted
  }

  nextLayer(): void {
    merge(this.#lower, this.#layer)
    this.#layer = empty()
  }

  async apply(entry: TreeEntry, content: AsyncIterable<unknown>): Promise<void> {
    const target = Either.getOrThrowWith(entryPath(entry.name), (error) => error)
    if (target._tag === "Ignored") return
    const { parts } = target
    if (target._tag === "Opaque") return void at(this.#lower, parts)?.below.clear()
    if (target._tag === "Whiteout") return remove(this.#lower, parts)
    if (entry.type === "directory") {
      delete at(this.#lower, parts)?.value
      return
    }
    const link = entry.type === "link" ? this.#linked(entry.linkname) : undefined
    remove(this.#lower, parts)
    remove(this.#layer, parts)
    const path = parts.join("/")
    const most = this.#wanted.most(path)
    if (most === undefined || entry.type === "symlink") return
    const kept = link?.kept ?? this.#wanted.keep(path, entry.type === "link" ? undefined : await bytesOf(content, most))
    if (++this.#count > mostFiles) throw imageError("too_large", `The image has more than ${mostFiles} package files`)
    let place = this.#layer
    for (const part of parts) {
      const next = place.below.get(part) ?? empty<A>()
      place.below.set(part, next)
      place = next
    }
    place.value = { kept }
  }

  /** What was kept, once all layers were read. */
  all(): ReadonlyArray<A> {
    this.nextLayer()
    const kept: Array<A> = []
    const collect = ({ below, value }: Place<A>): void => {
      if (value !== undefined) kept.push(value.kept)
      for (const place of below.values()) collect(place)
    }
    collect(this.#lower)
    return kept
  }

  /** What was kept of the file that a hard link names. */
  #linked(name: string) {
    const target = Either.getOrThrowWith(entryPath(name), (error) => error)
    if (target._tag !== "Place") throw hostile("a hard link names a whiteout")
    return (at(this.#layer, target.parts) ?? at(this.#lower, target.parts))?.value
  }
}

const at = <A>(root: Place<A>, parts: ReadonlyArray<string>): Place<A> | undefined => {
  let place: Place<A> | undefined = root
  for (const part of parts) place = place?.below.get(part)
  return place
}

const remove = <A>(root: Place<A>, parts: ReadonlyArray<string>): void => {
  const last = parts.at(-1)
  if (last !== undefined) at(root, parts.slice(0, -1))?.below.delete(last)
}

const merge = <A>(into: Place<A>, from: Place<A>): void => {
  if (from.value !== undefined) into.value = from.value
  for (const [part, place] of from.below) {
    const lower = into.below.get(part)
    if (lower === undefined) into.below.set(part, place)
    else merge(lower, place)
  }
}

/** Reads to the end whatever it keeps: a stream that is left half-way breaks its archive. */
const bytesOf = async (content: AsyncIterable<unknown>, most: number): Promise<Buffer | undefined> => {
  const chunks: Array<Uint8Array> = []
  let size = 0
  for await (const chunk of content) {
    if (!(chunk instanceof Uint8Array)) continue
    size += chunk.length
    if (size <= most) chunks.push(chunk)
    else chunks.length = 0
  }
  return size <= most ? Buffer.concat(chunks) : undefined
}
