import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { spawn } from "node:child_process"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Readable } from "node:stream"
import { freePort } from "../../support/http.ts"
import { type Browse, browsing, type Machine, never, newMachine, type Outcome, runNode } from "./machine.ts"
import { type Peers } from "./peers.ts"

/** The files in which programs keep what they know. */
const keptFiles = ({ environment: { HOME: home = "" } }: Machine) =>
  readdirSync(home, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".json"))
    .map((name) => join(home, name))

/** Makes invalid, as time does, the access tokens that programs keep there; gives the number of files. */
export const spoilAccessTokens = (machine: Machine) =>
  keptFiles(machine).filter((file) => {
    const text = readFileSync(file, "utf8")
    // A JWT in compact form: its signature is changed.
    const spoiled = text.replaceAll(/(eyJ[\w-]+\.[\w-]+\.)[\w-]{8}/g, "$1AAAAAAAA")
    writeFileSync(file, spoiled)
    return spoiled !== text
  }).length

const headers = ({ address }: Pick<Machine, "address">, token: string | undefined) =>
  [`X-Forwarded-For: ${address}`, ...(token === undefined ? [] : [`Authorization: Bearer ${token}`])]
    .flatMap((header) => ["--header", header])

/** A call of a tool by the AI SDK's client; without `browse` it may ask nobody to sign in. */
export const throughAiSdk =
  (peers: Peers, { environment }: Machine, url: string) =>
  (name: string, args: object, browse?: Browse): Promise<Outcome> => {
    const module = peers.script("@ai-sdk/mcp/dist/index.js")
    const program = join(import.meta.dirname, "ai-sdk.mjs")
    return runNode(peers, [program, module, url, name, JSON.stringify(args)], {
      environment,
      timeout: 120_000,
      ...(browse === undefined ? {} : { browse })
    })
  }

/** The same by mcporter's command line. Its callback must stay: for another it would register as another client. */
export const throughMcporter = async (peers: Peers, { environment }: Machine, url: string) => {
  const config = join(environment["HOME"] ?? "", "mcporter.config")
  const oauthRedirectUrl = `http://127.0.0.1:${await freePort()}/callback`
  writeFileSync(config, JSON.stringify({ mcpServers: { berth: { url, auth: "oauth", oauthRedirectUrl } } }))
  return (name: string, args: object, browse?: Browse): Promise<Outcome> =>
    runNode(
      peers,
      [
        peers.script("mcporter/dist/cli.js"),
        "--config",
        config,
        "--log-level",
        "info",
        "--oauth-timeout",
        "100000",
        "call",
        `berth.${name}`,
        "--args",
        JSON.stringify(args),
        "--output",
        "json"
      ],
      { environment, says: "stdout", timeout: 120_000, ...(browse === undefined ? {} : { browse }) }
    )
}

const inspectorScript = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"

/** The Inspector's command line. */
export const inspector =
  (peers: Peers, machine = newMachine()) => (url: string, token: string | undefined, ...args: ReadonlyArray<string>) =>
    runNode(peers, [
      peers.script(inspectorScript),
      "--cli",
      url,
      "--transport",
      url.endsWith("/sse") ? "sse" : "http",
      // What it may not open by itself it shall not ask a person for.
      "--stored-auth-only",
      ...headers(machine, token),
      ...args
    ], machine)

/** The same with a person, who is told where to sign in; it waits for the answer at a callback of its own. */
export const signInThroughInspector =
  (peers: Peers, { address, environment }: Machine, browse: Browse) =>
  async (url: string, ...args: ReadonlyArray<string>) => {
    // Two of these tests may run at once, and its usual callback has one port.
    const callback = `http://127.0.0.1:${await freePort()}/oauth/callback`
    return runNode(
      peers,
      [
        peers.script(inspectorScript),
        "--cli",
        url,
        "--callback-url",
        callback,
        "--connect-timeout",
        "60000",
        ...headers({ address }, undefined),
        ...args
      ],
      // It asks nobody when it sees no terminal, unless this says that somebody is there.
      { browse, environment: { ...environment, MCP_AUTO_OPEN_ENABLED: "true" }, timeout: 120_000 }
    )
  }

const remoteArguments = (peers: Peers, machine: Machine, url: string, token: string | undefined) => [
  peers.script("mcp-remote/dist/proxy.js"),
  url,
  "--allow-http",
  ...headers(machine, token)
]

const transportFlags = (url: string) => ["--transport", url.endsWith("/sse") ? "sse-only" : "http-only"]

const editor = async (peers: Peers, args: Array<string>, { environment }: Machine, browse: Browse) => {
  const client = new Client({ name: "editor", version: "1" })
  const transport = new StdioClientTransport({ command: peers.node, args, env: environment, stderr: "pipe" })
  const { refused } = browsing(transport.stderr as Readable, browse)
  try {
    await Promise.race([client.connect(transport as Transport, { timeout: 120_000 }), refused])
  } catch (error) {
    await client.close()
    throw error
  }
  return client
}

/** A client of stdio servers, as editors are, with mcp-remote between it and ours. */
export const throughMcpRemote = (peers: Peers, url: string, token: string | undefined, machine = newMachine()) =>
  editor(peers, [...remoteArguments(peers, machine, url, token), ...transportFlags(url)], machine, never)

/** The same with a person, who is told where to sign in. */
export const signInThroughMcpRemote = (
  peers: Peers,
  machine: Machine,
  browse: Browse,
  url: string,
  ...args: ReadonlyArray<string>
) =>
  editor(
    peers,
    [...remoteArguments(peers, machine, url, undefined), "--auth-timeout", "120", ...args],
    machine,
    browse
  )

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
    const machine = newMachine()
    const args = [...remoteArguments(peers, machine, url, token), ...transportFlags(url)]
    const child = spawn(peers.node, args, { env: machine.environment, timeout: 60_000 })
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
