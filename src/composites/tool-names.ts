import { createHash } from "node:crypto"

/** What hosts accept of a tool's name. */
const longestToolName = 64
const accepted = /^[A-Za-z0-9_-]{1,64}$/
const hashLength = 10
/** Between a member's slug and its tool's name; slugs have no underscore. */
export const prefixEnd = "__"
/** At least so much of a slug stays readable. */
export const shortestSlug = 16

const plain = (text: string) => text.replace(/[^A-Za-z0-9_-]/g, "_")

/** Says what a shortened or mended name stands for, so that two of them differ. */
const hashOf = (...parts: ReadonlyArray<string>) =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, hashLength)

/** The name of a tool that several members have alike: its own, or, where hosts would refuse that, a mended one. */
export const mergedName = (tool: string): string =>
  accepted.test(tool) ? tool : `${plain(tool).slice(0, longestToolName - hashLength - 1)}_${hashOf(tool)}`

/**
 * The name of one member's tool or prompt: `{slug}__{tool}`. It depends on these two alone, and so stays the same
 * whoever else is a member.
 */
export const memberName = (slug: string, tool: string): string => {
  const full = `${slug}${prefixEnd}${tool}`
  if (accepted.test(full)) return full
  const room = longestToolName - hashLength - prefixEnd.length - "_".length
  const ofSlug = plain(slug).slice(0, Math.max(shortestSlug, room - tool.length))
  return `${ofSlug}${prefixEnd}${plain(tool).slice(0, room - ofSlug.length)}_${hashOf(slug, tool)}`
}
