import { Either } from "effect"
import type { Stats } from "node:fs"
import { chmod, link, lstat, mkdir, open, readdir, rm, symlink } from "node:fs/promises"
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
 * is used, so an entry stays below `root` whatever earlier entries created.
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
      return chmod(this.#root, permissions(entry.mode) | 0o700)
    }
    await this.#makeParents(parts.slice(0, -1))
    const path = this.#at(parts)
    if (entry.type === "directory") await this.#directory(parts, entry)
    else if (entry.type === "link") await this.#link(parts, entry)
    else {
      await this.#clear(parts)
      if (entry.type === "symlink") await this.#symlink(path, entry)
      else await this.#file(path, entry, content)
    }
    this.#created.add(parts.join("/"))
  }

  async #file(path: string, entry: TreeEntry, content: AsyncIterable<unknown>): Promise<void> {
    // "wx" is O_EXCL: it fails if anything exists there, including a dangling link.
    const file = await open(path, "wx", 0o600)
    try {
      // On a file handle, each writeFile continues where the last one ended.
      for await (const chunk of content) if (chunk instanceof Uint8Array) await file.writeFile(chunk)
      await file.chmod(permissions(entry.mode))
      // Interpreters compare the time with that of their compiled files.
      await file.utimes(entry.mtime, entry.mtime)
    } finally {
      await file.close()
    }
  }

  async #symlink(path: string, entry: TreeEntry): Promise<void> {
    if (entry.linkname === "" || Buffer.byteLength(entry.linkname) > 4095) {
      throw hostile(`the link ${shown(entry.name)} has no usable target`)
    }
    await symlink(entry.linkname, path)
  }

  async #link(parts: Parts, entry: TreeEntry): Promise<void> {
    const target = orThrow(pathParts(entry.linkname))
    const stats = await this.#look(target)
    if (stats === undefined || !(stats.isFile() || stats.isSymbolicLink())) {
      throw hostile(`${shown(entry.name)} is a hard link to ${shown(entry.linkname)}, which is not a file of the image`)
    }
    if (target.join("/") === parts.join("/")) return
    await this.#clear(parts)
    if (await this.#look(target) === undefined) throw hostile(`${shown(entry.name)} replaces the file it links to`)
    await link(this.#at(target), this.#at(parts))
  }

  async #directory(parts: Parts, entry: TreeEntry): Promise<void> {
    const stats = await this.#stat(parts)
    if (stats !== undefined && !stats.isDirectory()) await this.#clear(parts)
    if (stats === undefined || !stats.isDirectory()) await mkdir(this.#at(parts), { mode: 0o700 })
    // The owner keeps all rights: without them an ordinary user could neither fill nor remove the directory.
    await chmod(this.#at(parts), permissions(entry.mode) | 0o700)
    this.#real.add(parts.join("/"))
  }

  async #makeParents(parts: Parts): Promise<void> {
    for (let depth = 1; depth <= parts.length; depth++) {
      const part = parts.slice(0, depth)
      const key = part.join("/")
      this.#created.add(key)
      if (this.#real.has(key)) continue
      const stats = await this.#stat(part)
      if (stats === undefined) await mkdir(this.#at(part), { mode: 0o755 })
      else this.#mustBeDirectory(stats, key)
      this.#real.add(key)
    }
  }

  /** The stats of a path, undefined when it or a parent is missing. Fails when a parent is a link. */
  async #look(parts: Parts): Promise<Stats | undefined> {
    for (let depth = 1; depth < parts.length; depth++) {
      const key = parts.slice(0, depth).join("/")
      if (this.#real.has(key)) continue
      const stats = await this.#stat(parts.slice(0, depth))
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

  async #hide(parts: Parts): Promise<void> {
    const stats = await this.#look(parts)
    if (stats === undefined) return
    if (!this.#created.has(parts.join("/"))) return this.#clear(parts)
    if (stats.isDirectory()) await this.#hideChildren(parts)
  }

  async #hideChildren(parts: Parts): Promise<void> {
    const stats = await this.#look(parts)
    if (stats === undefined) return
    const key = parts.join("/")
    this.#mustBeDirectory(stats, key)
    if (this.#emptied.has(key)) return
    this.#emptied.add(key)
    for (const child of await readdir(this.#at(parts))) await this.#hide([...parts, child])
  }

  async #clear(parts: Parts): Promise<void> {
    const stats = await this.#stat(parts)
    if (stats === undefined) return
    if (stats.isDirectory()) this.#real.clear()
    await rm(this.#at(parts), { recursive: true, force: true })
  }

  #stat(parts: Parts): Promise<Stats | undefined> {
    return lstat(this.#at(parts)).catch((cause: NodeJS.ErrnoException) =>
      cause.code === "ENOENT" ? undefined : Promise.reject(cause)
    )
  }

  #at(parts: Parts): string {
    return join(this.#root, ...parts)
  }
}
