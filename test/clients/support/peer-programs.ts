import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { execFile, spawn } from "node:child_process"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { freshAddress } from "../../support/http.ts"
import { temporaryDirectory } from "../../support/Settings.ts"
import { type Peers } from "./peers.ts"

export interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** A user's machine without a browser: nothing that opens one is on its PATH. */
const environment = () => {
  const home = temporaryDirectory("peer")
  const bin = join(home, "bin")
  mkdirSync(bin)
  return {
    HOME: home,
    PATH: bin,
    MCP_REMOTE_CONFIG_DIR: join(home, "mcp-remote"),
    NODE_OPTIONS: `--import=${join(import.meta.dirname, "localhost-names.mjs")}`,
    NO_COLOR: "1"
  }
}

const headers = (token: string | undefined) =>
  [`X-Forwarded-For: ${freshAddress()}`, ...(token === undefined ? [] : [`Authorization: Bearer ${token}`])]
    .flatMap((header) => ["--header", header])

const runNode = ({ node }: Peers, args: ReadonlyArray<string>, input = "") =>
  new Promise<Outcome>((resolve) => {
    const options = { env: environment(), timeout: 30_000, maxBuffer: 16_000_000 }
    const child = execFile(node, [...args], options, (error, out, err) => {
      resolve({ code: typeof error?.code === "number" ? error.code : error === null ? 0 : -1, out, err })
    })
    child.stdin?.end(input)
  })

/** The Inspector's command line. */
export const inspector = (peers: Peers) => (url: string, token: string | undefined, ...args: ReadonlyArray<string>) =>
  runNode(peers, [
    peers.script("@modelcontextprotocol/inspector/clients/launcher/build/index.js"),
    "--cli",
    url,
    "--transport",
    url.endsWith("/sse") ? "sse" : "http",
    // What it may not open by itself it shall not ask a person for.
    "--stored-auth-only",
    ...headers(token),
    ...args
  ])

const remoteArguments = (peers: Peers, url: string, token: string | undefined) => [
  peers.script("mcp-remote/dist/proxy.js"),
  url,
  "--allow-http",
  "--transport",
  url.endsWith("/sse") ? "sse-only" : "http-only",
  ...headers(token)
]

/** A client of stdio servers, as editors are, with mcp-remote between it and ours. */
export const throughMcpRemote = async (peers: Peers, url: string, token: string) => {
  const client = new Client({ name: "editor", version: "1" })
  const transport = new StdioClientTransport({
    command: peers.node,
    args: remoteArguments(peers, url, token),
    env: environment(),
    stderr: "ignore"
  })
  await client.connect(transport as Transport)
  return client
}

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "editor", version: "1" } }
}

/**
 * mcp-remote where it is refused: what it told its user and its client until it asked for a sign-in, for which it
 * would wait.
 */
export const refusedMcpRemote = (peers: Peers, url: string, token: string | undefined) =>
  new Promise<Pick<Outcome, "out" | "err">>((resolve) => {
    const child = spawn(peers.node, remoteArguments(peers, url, token), { env: environment(), timeout: 60_000 })
    let out = ""
    let err = ""
    child.stdout.on("data", (chunk) => out += chunk)
    child.stderr.on("data", (chunk) => {
      err += chunk
      if (/\/authorize\?\S+\s/.test(err)) child.kill("SIGKILL")
    })
    child.on("close", () => resolve({ out, err }))
    child.stdin.write(`${JSON.stringify(initialize)}\n`)
  })
