import { lstatSync, readFileSync, readlinkSync } from "node:fs"
import { join, posix } from "node:path"

/** An image is hostile input: a link in it, followed from outside, leads anywhere on the host. */
const walk = (rootfs: string, path: string) => {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".")
  if (parts.includes("..")) return undefined
  let at = rootfs
  for (const [depth, part] of parts.entries()) {
    at = join(at, part)
    const stats = lstatSync(at, { throwIfNoEntry: false })
    if (stats === undefined) return { parts, stats }
    if (depth === parts.length - 1) return { parts, stats }
    if (!stats.isDirectory()) return undefined
  }
  return undefined
}

/** The path made relative, if each part of it is a directory or absent; else empty. */
export const plainDirectory = (rootfs: string, path: string): string => {
  const entry = walk(rootfs, path)
  return entry !== undefined && (entry.stats?.isDirectory() ?? true) ? entry.parts.join("/") : ""
}

/** Where /etc is, relative: a link is followed once, to a plain directory within the image. Empty when it is none. */
export const etcDirectory = (rootfs: string): string => {
  const isLink = lstatSync(join(rootfs, "etc"), { throwIfNoEntry: false })?.isSymbolicLink() === true
  if (!isLink) return plainDirectory(rootfs, "etc")
  return plainDirectory(rootfs, posix.normalize(posix.join("/", readlinkSync(join(rootfs, "etc")))))
}

/** A small text file of the image; empty when it is absent, reached through a link or suspiciously large. */
export const readInside = (rootfs: string, path: string): string => {
  const entry = walk(rootfs, path)
  return entry?.stats?.isFile() === true && entry.stats.size <= 1_048_576
    ? readFileSync(join(rootfs, ...entry.parts), "utf8")
    : ""
}
