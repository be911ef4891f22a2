import type { RawEntry } from "../support/registry.ts"

export const file = (name: string, content = name): RawEntry => ({ name, content })
export const directory = (name: string): RawEntry => ({ name, type: "directory", mode: 0o755 })
export const symlink = (name: string, linkname: string): RawEntry => ({ name, type: "symlink", linkname })
export const hardlink = (name: string, linkname: string): RawEntry => ({ name, type: "link", linkname })
