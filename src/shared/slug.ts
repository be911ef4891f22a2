import anyAscii from "any-ascii"
import { randomInt } from "node:crypto"
import { isLabel } from "./dns-label.ts"

/** The nearest DNS label to a name in any script, at most 50 characters; `fallback` when nothing is left of it. */
export const slugOf = (name: string, fallback: string) => {
  const slug = anyAscii(name.slice(0, 200).normalize("NFC")).toLowerCase()
    .replace(/[^a-z0-9]+/g, "-").slice(0, 50).replace(/^-+|-+$/g, "")
  return isLabel(slug) ? slug : fallback
}

const letters = "abcdefghijkmnpqrstuvwxyz23456789"

/** The slug with four random characters, for when it is already in use. */
export const withSuffix = (slug: string) =>
  `${slug.slice(0, 58).replace(/-+$/, "")}-${Array.from({ length: 4 }, () => letters.charAt(randomInt(32))).join("")}`

/** Names that a hosted server may not have: they would look like the platform's own hosts. */
const reserved = new Set(
  ("www api app auth admin account accounts mail smtp imap ftp ns ns1 ns2 mx cdn static assets status docs help " +
    "support blog billing checkout login signup logout oauth mcp sse message hub directory gateway registry skills " +
    "health healthz metrics internal localhost root system test dev staging dashboard console security abuse " +
    "postmaster hostmaster webmaster autodiscover autoconfig wpad berth").split(" ")
)

export const isReservedSlug = (slug: string) => reserved.has(slug)
