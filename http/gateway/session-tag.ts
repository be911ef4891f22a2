import { type Mark } from "#src/routing/Route.ts"

/**
 * What the gateway hands out for a session names its machine, so that any gateway, and one that was started since, finds
 * it or knows that it is gone (docs/decisions/swap-and-drain.md). A session's id also says how its client named itself, for
 * the figures by client (docs/decisions/tool-metrics.md). Machines never see the tag. A machine's first run goes
 * without saying.
 */
const mark = "([1-9]\\d{0,9})(?:\\.([2-9]|[1-9]\\d{1,9}))?"
/** Of a client's name, in bytes; as Base64url it is a third longer. */
const maxClient = 96
const idTag = new RegExp(`~v${mark}(?:!([\\w-]{1,${maxClient / 3 * 4}}))?$`)
const parameter = "berth-version"
const queryTag = new RegExp(`([?&])${parameter}=${mark}(&|$)`)

const markIn = (version: string | undefined, run = "1"): Mark | undefined =>
  version === undefined ? undefined : { version: Number(version), run: Number(run) }

const textOf = ({ run, version }: Mark) => run <= 1 ? `${version}` : `${version}.${run}`

/** A machine's `Mcp-Session-Id` as the client gets it. */
export const tagSessionId = (id: string, of: Mark, client = "") => {
  const name = Buffer.from(client, "utf8").subarray(0, maxClient).toString("base64url")
  return `${id}~v${textOf(of)}${name === "" ? "" : `!${name}`}`
}

/** The same as the machine gave it. Ids without a tag were handed out by an older gateway. */
export const untagSessionId = (id: string) => id.replace(idTag, "")

export const markOfSessionId = (id: string) => {
  const [, version, run] = idTag.exec(id) ?? []
  return markIn(version, run)
}

/** How the client of the session named itself. It can say so again as it likes: the id is the client's. */
export const clientOfSessionId = (id: string) => {
  const [, , , name] = idTag.exec(id) ?? []
  return name === undefined ? undefined : Buffer.from(name, "base64url").toString("utf8")
}

const isOther = (address: string, clientHost: string) => {
  const [, authority] = /^(?:[a-z][a-z0-9+.-]*:)?\/\/([^/?#]*)/i.exec(address) ?? []
  return authority !== undefined && authority.toLowerCase() !== clientHost.toLowerCase()
}

/** The address for messages of the HTTP+SSE transport of 2024-11-05; one of another host stays as it is. */
export const tagEndpoint = (address: string, of: Mark, clientHost: string) => {
  if (isOther(address, clientHost)) return address
  const end = address.indexOf("#")
  const [main, fragment] = end === -1 ? [address, ""] : [address.slice(0, end), address.slice(end)]
  const separator = !main.includes("?") ? "?" : /[?&]$/.test(main) ? "" : "&"
  return `${main}${separator}${parameter}=${textOf(of)}${fragment}`
}

/** A path with its query, without the tag. */
export const untagPath = (path: string) =>
  path.includes(parameter)
    ? path.replace(queryTag, (...found: ReadonlyArray<string>) => found[4] === "" ? "" : found[1] ?? "")
    : path

export const markOfPath = (path: string) => {
  if (!path.includes(parameter)) return undefined
  const [, , version, run] = queryTag.exec(path) ?? []
  return markIn(version, run)
}
