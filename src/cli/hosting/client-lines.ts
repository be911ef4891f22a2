import { endpointOf } from "#src/cli/mcp/endpoint.ts"
import { shellQuoted } from "#src/format/shell.ts"

/** Where a client finds a server, and what it calls it. */
export interface Found {
  readonly name: string
  readonly endpoint: string
}

/** The older transport has a URL of its own, which a client of the newer one can't use. */
export const transportOf = (endpoint: string) => new URL(endpoint).pathname.endsWith("/sse") ? "sse" : "http"

/** One word of a POSIX shell, whatever stands in it: a listing's URL is somebody else's text. */
const word = (text: string) => /^[\w@%+=:,./-]+$/.test(text) ? text : shellQuoted(text)

/** One command a client, by which it has the server; undefined where the client can't speak to it. */
const lines: Readonly<Record<string, (found: Found) => ReadonlyArray<string> | undefined>> = {
  "Claude Code": ({ endpoint, name }) => [
    ...["claude", "mcp", "add", "--transport", transportOf(endpoint)],
    ...[name, endpoint]
  ],
  Codex: ({ endpoint, name }) =>
    transportOf(endpoint) === "sse" ? undefined : ["codex", "mcp", "add", name, "--url", endpoint],
  "Gemini CLI": ({ endpoint, name }) => [
    ...["gemini", "mcp", "add", "--scope", "user", "--transport", transportOf(endpoint)],
    ...[name, endpoint]
  ],
  "VS Code": ({ endpoint, name }) => [
    ...["code", "--add-mcp", JSON.stringify({ name, type: transportOf(endpoint), url: endpoint })]
  ],
  Cursor: ({ endpoint }) => ["npx", "berth", "connect", endpoint, "--cursor", "--write"],
  mcporter: ({ endpoint, name }) => ["npx", "mcporter", "config", "add", name, endpoint],
  mcpc: ({ endpoint, name }) =>
    transportOf(endpoint) === "sse" ? undefined : ["npx", "@apify/mcpc", "connect", endpoint, `@${name}`],
  Inspector: ({ endpoint }) => [
    ...["npx", "@modelcontextprotocol/inspector", "--cli", endpoint, "--transport", transportOf(endpoint)],
    ...["--method", "tools/list"]
  ],
  "Claude Desktop, and others that start programs": ({ endpoint }) => ["npx", "-y", "mcp-remote", endpoint]
}

/** What to type for each client, in the order of the README. */
export const clientLines = (found: Found): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(lines).flatMap(([title, line]) => {
      const words = line(found)
      return words === undefined ? [] : [[title, words.map(word).join(" ")]]
    })
  )

/** Every client takes letters, digits, `_` and `-`, and no option for a name. */
const plain = (name: string) => name.replaceAll(/[^\w-]+/g, "-").replace(/^-+/, "") || "server"

/**
 * A server by its URL alone: its name is the slug, or says which of the installation's own doors it is; its endpoint
 * follows the one rule for addresses.
 */
export const foundAt = (url: URL, installation: string | undefined): Found => {
  const path = url.pathname.replace(/\/$/, "")
  const { origin, pathname } = endpointOf(url)
  const endpoint = origin + pathname
  const [, slug] = /^\/s\/([^/]+)/.exec(path) ?? []
  const [, door, id] = /^\/mcp\/(directory|composites)(?:\/(\w+))?$/.exec(path) ?? []
  if (slug !== undefined) return { name: plain(slug), endpoint }
  if (door === "directory") return { name: "berth-directory", endpoint }
  if (id !== undefined) return { name: `composite-${id.slice(-6).toLowerCase()}`, endpoint }
  return { name: url.origin === installation ? "berth" : plain(url.hostname.split(".")[0] ?? ""), endpoint }
}
