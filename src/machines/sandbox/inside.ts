import { lstatSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** An image is hostile input: a link in it, followed from outside, leads anywhere on the host. */
const walk = (rootfs: string, path: string) => {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".")
  if (parts.includes("..")) return undefined
  let at = rootfs
  for (const [depth, part] of parts.entries()) {
    at = join(at, part)
    const found = lstatSync(at, { throwIfNoEntry: false })
    if (found === undefined) return { parts, found }
    if (depth === parts.length - 1) return { parts, found }
    if (!found.isDirectory()) return undefined
  }
  return undefined
}

/** The path, relative, when nothing on the way to it is anything but a directory or absent; else empty. */
export const plainDirectory = (rootfs: string, path: string): string => {
  const seen = walk(rootfs, path)
  return seen !== undefined && (seen.found === undefined || seen.found.isDirectory()) ? seen.parts.join("/") : ""
}

/** A small text file of the image; empty when it is absent, reached by a link or too large to be honest. */
export const readInside = (rootfs: string, path: string): string => {
  const seen = walk(rootfs, path)
  return seen?.found?.isFile() === true && seen.found.size <= 1_048_576
    ? readFileSync(join(rootfs, ...seen.parts), "utf8")
    : ""
}
