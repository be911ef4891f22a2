import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync } from "node:fs"
import { join } from "node:path"
import { freePort } from "../../support/http.ts"
import { built, proxyCore, startCommand } from "./processes.ts"

const pinned = join(import.meta.dirname, "mcp-proxies")
const lock = readFileSync(join(pinned, "package-lock.json"))
const place = join(
  import.meta.dirname,
  "../../../node_modules/.cache",
  `berth-mcp-proxies-${createHash("sha256").update(lock).digest("hex").slice(0, 12)}`
)

/** Installs the proxies of others, of pinned versions, where nothing of ours finds them. */
const install = () => {
  if (existsSync(place)) return
  const making = `${place}.${process.pid}`
  mkdirSync(making, { recursive: true })
  for (const name of ["package.json", "package-lock.json"]) copyFileSync(join(pinned, name), join(making, name))
  execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"], {
    cwd: making,
    stdio: ["ignore", "ignore", "inherit"]
  })
  renameSync(making, place)
}

const initialize = {
  jsonrpc: "2.0",
  id: "first",
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1.0.0" } }
}
const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" }

/** Opens a session; the proxy may still be starting. */
const open = async (url: string): Promise<string> => {
  for (let tries = 100;; tries--) {
    try {
      const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(initialize) })
      const text = await answer.text()
      const session = answer.headers.get("mcp-session-id")
      if (session === null) throw new Error(`${url} opened no session: ${answer.status} ${text}`)
      const body = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })
      await fetch(url, { method: "POST", headers: { ...headers, "mcp-session-id": session }, body })
      return session
    } catch (error) {
      if (tries === 0) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

/** Two MCP proxies from npm, each with one session: they carry HTTP to a server on stdio. */
export const startMcpProxies = async () => {
  install()
  const server = join(built, "stdio.js")
  const ways = {
    "mcp-proxy": (port: string) => ["--host", "127.0.0.1", "--port", port, "--server", "stream", "--", "node", server],
    supergateway: (port: string) => [
      ...["--stdio", `node ${server}`, "--outputTransport", "streamableHttp"],
      ...["--stateful", "--port", port, "--logLevel", "none"]
    ]
  }
  return Promise.all(
    Object.entries(ways).map(async ([name, args]) => {
      const port = await freePort()
      const script = join(place, "node_modules/.bin", name)
      const child = startCommand(process.execPath, [script, ...args(String(port))], proxyCore)
      child.stdout!.resume()
      return { name, port, path: "/mcp", pid: child.pid!, session: await open(`http://127.0.0.1:${port}/mcp`) }
    })
  )
}
