import { Either } from "effect"
import {
  chmodSync,
  closeSync,
  fchmodSync,
  futimesSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  type Stats,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { entryPath, hostile, pathParts, shown } from "./entry-path.ts"

/** The fields of a tar header that are used for a root file system. */
export interface TreeEntry {
  readonly name: string
  readonly type: "file" | "directory" | "symlink" | "link"
  readonly mode: number
  readonly mtime: Date
  readonly linkname: string
}

type Parts = ReadonlyArray<string>

const orThrow = <A, E>(either: Either.Either<A, E>): A => {
  if (Either.isLeft(either)) throw either.left
  return either.right
}

// Without setuid and setgid, which would also work on the host. The sticky bit is harmless, and /tmp needs it.
const permissions = (mode: number) => mode & 0o1777

/**
 * A root file system under construction. It never follows a symbolic link: each parent of a path is checked before it
 * is used, so an entry stays below `root` whatever earlier entries created. Its calls are synchronous: a thread of its own
 * makes them, and waiting for each would take several times as long.
 */
export class Tree {
  readonly #root: string
  /** Paths known to be real directories; cleared when any directory is removed. */
  readonly #real = new Set<string>()
  /** Paths that the current layer created: its own whiteouts don't hide them. */
  readonly #created = new Set<string>()
  /** Directories whose lower content the current layer has already hidden. */
  readonly #emptied = new Set<string>()

  constructor(root: string) {
    this.#root = root
  }

  nextLayer(): void {
    this.#created.clear()
    this.#emptied.clear()
  }

  /** Applies one entry; `content` is read only for a file. */
  async apply(entry: TreeEntry, content: AsyncIterable<unknown>): Promise<void> {
    const target = orThrow(entryPath(entry.name))
    if (target._tag === "Place") return this.#place(target.parts, entry, content)
    if (target._tag === "Whiteout") return this.#hide(target.parts)
    if (target._tag === "Opaque") return this.#hideChildren(target.parts)
  }

  async #place(parts: Parts, entry: TreeEntry, content: AsyncIterable<unknown>): Promise<void> {
    if (parts.length === 0) {
      if (entry.type !== "directory") throw hostile("its root is not a directory")
      return chmodSync(this.#root, permissions(entry.mode) | 0o700)
    }
    this.#makeParents(parts.slice(0, -1))
    const path = this.#at(parts)
    if (entry.type === "directory") this.#directory(parts, entry)
    else if (entry.type === "link") this.#link(parts, entry)
    else {
      this.#clear(parts)
      if (entry.type === "symlink") this.#symlink(path, entry)
      else await this.#file(path, entry, content)
    }
    this.#created.add(parts.join("/"))
  }

  async #file(path: string, entry: TreeEntry, content: AsyncIterable<unknown>): Promise<void> {
    // "wx" is O_EXCL: it fails if anything exists there, including a dangling link.
    const file = openSync(path, "wx", 0o600)
    try {
      // With a file descriptor, each writeFile continues where the last one ended.
      for await (const chunk of content) if (chunk instanceof Uint8Array) writeFileSync(file, chunk)
      fchmodSync(file, permissions(entry.mode))
      // Interpreters compare the time with that of their compiled files.
      futimesSync(file, entry.mtime, entry.mtime)
    } finally {
      closeSync(file)
    }
  }

  #symlink(path: string, entry: TreeEntry): void {
    if (entry.linkname === "" || Buffer.byteLength(entry.linkname) > 4095) {
      throw hostile(`the link ${shown(entry.name)} has no usable target`)
    }
    symlinkSync(entry.linkname, path)
  }

  #link(parts: Parts, entry: TreeEntry): void {
    const target = orThrow(pathParts(entry.linkname))
    const stats = this.#look(target)
    if (stats === undefined || !(stats.isFile() || stats.isSymbolicLink())) {
      throw hostile(`${shown(entry.name)} is a hard link to ${shown(entry.linkname)}, which is not a file of the image`)
    }
    if (target.join("/") === parts.join("/")) return
    this.#clear(parts)
    if (this.#look(target) === undefined) throw hostile(`${shown(entry.name)} replaces the file it links to`)
    linkSync(this.#at(target), this.#at(parts))
  }

  #directory(parts: Parts, entry: TreeEntry): void {
    const stats = this.#stat(parts)
    if (stats !== undefined && !stats.isDirectory()) this.#clear(parts)
    if (stats === undefined || !stats.isDirectory()) mkdirSync(this.#at(parts), { mode: 0o700 })
    // The owner keeps all rights: without them an ordinary user could neither fill nor remove the directory.
    chmodSync(this.#at(parts), permissions(entry.mode) | 0o700)
    this.#real.add(parts.join("/"))
  }

  #makeParents(parts: Parts): void {
    for (let depth = 1; depth <= parts.length; depth++) {
      const part = parts.slice(0, depth)
      const key = part.join("/")
      this.#created.add(key)
      if (this.#real.has(key)) continue
      const stats = this.#stat(part)
      if (stats === undefined) mkdirSync(this.#at(part), { mode: 0o755 })
      else this.#mustBeDirectory(stats, key)
      this.#real.add(key)
    }
  }

  /** The stats of a path, undefined when it or a parent is missing. Fails when a parent is a link. */
  #look(parts: Parts): Stats | undefined {
    for (let depth = 1; depth < parts.length; depth++) {
      const key = parts.slice(0, depth).join("/")
      if (this.#real.has(key)) continue
      const stats = this.#stat(parts.slice(0, depth))
      if (stats === undefined) return undefined
      this.#mustBeDirectory(stats, key)
      this.#real.add(key)
    }
    return this.#stat(parts)
  }

  #mustBeDirectory(stats: Stats, path: string): void {
    if (stats.isSymbolicLink()) throw hostile(`a path goes through the symbolic link ${shown(path)}`)
    if (!stats.isDirectory()) throw hostile(`a path goes through ${shown(path)}, which is not a directory`)
  }

  #hide(parts: Parts): void {
    const stats = this.#look(parts)
    if (stats === undefined) return
    if (!this.#created.has(parts.join("/"))) return this.#clear(parts)
    if (stats.isDirectory()) this.#hideChildren(parts)
  }

  #hideChildren(parts: Parts): void {
    const stats = this.#look(parts)
    if (stats === undefined) return
    const key = parts.join("/")
    this.#mustBeDirectory(stats, key)
    if (this.#emptied.has(key)) return
    this.#emptied.add(key)
    for (const child of readdirSync(this.#at(parts))) this.#hide([...parts, child])
  }

  #clear(parts: Parts): void {
    const stats = this.#stat(parts)
    if (stats === undefined) return
    if (stats.isDirectory()) this.#real.clear()
    rmSync(this.#at(parts), { recursive: true, force: true })
  }

  #stat(parts: Parts): Stats | undefined {
    return lstatSync(this.#at(parts), { throwIfNoEntry: false })
  }

  #at(parts: Parts): string {
    return join(this.#root, ...parts)
  }
}
