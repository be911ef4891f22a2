import { applyEdits, modify, parse, type ParseError } from "jsonc-parser"
import { transportOf } from "./client-lines.ts"

/** A client's configuration of MCP servers in a project's folder. */
interface Client {
  readonly title: string
  readonly file: string
  /** The property that holds the servers by name. */
  readonly servers: string
  readonly entry: (url: string) => object
}

const typed = (url: string) => ({ type: transportOf(url), url })

export const clients = {
  claude: { title: "Claude Code", file: ".mcp.json", servers: "mcpServers", entry: typed },
  cursor: { title: "Cursor", file: ".cursor/mcp.json", servers: "mcpServers", entry: (url: string) => ({ url }) },
  vscode: { title: "VS Code", file: ".vscode/mcp.json", servers: "servers", entry: typed }
} as const satisfies Record<string, Client>

/**
 * The file's text with the server in it, and everything else, comments too, as it was. Undefined when the text is not
 * the configuration of a client.
 */
export const withServer = (text: string, client: Client, name: string, url: string): string | undefined => {
  const errors: Array<ParseError> = []
  const before: unknown = text.trim() === "" ? {} : parse(text, errors, { allowTrailingComma: true })
  if (errors.length > 0 || typeof before !== "object" || before === null || Array.isArray(before)) return undefined
  const servers: unknown = Object.getOwnPropertyDescriptor(before, client.servers)?.value
  if (servers !== undefined && (typeof servers !== "object" || servers === null || Array.isArray(servers))) {
    return undefined
  }
  const source = text.trim() === "" ? "{}" : text
  const edits = modify(source, [client.servers, name], client.entry(url), {
    formattingOptions: { insertSpaces: true, tabSize: 2, eol: "\n" }
  })
  return `${applyEdits(source, edits).trimEnd()}\n`
}
