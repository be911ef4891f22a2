import { type Outside } from "#src/egress/outside.ts"
import { type LayoutEntry, writeLayout } from "#src/images/layout.ts"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync, realpathSync } from "node:fs"
import { createServer as createHttp } from "node:http"
import { createServer as createHttps } from "node:https"
import { type AddressInfo, connect, createServer, type Server } from "node:net"
import { join } from "node:path"
import { temporaryDirectory } from "../support/Settings.ts"

/** A certificate for the names, and its key; as PEM. */
const certificate = (...names: ReadonlyArray<string>) => {
  const folder = temporaryDirectory("certificate")
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")]
  execFileSync("openssl", [
    ..."req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=outside".split(" "),
    ...["-addext", `subjectAltName=${names.map((name) => `DNS:${name}`).join(",")}`, "-keyout", key, "-out", cert]
  ], { stdio: "ignore" })
  return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") }
}

const listening = (server: Server) =>
  new Promise<number>((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)))

/**
 * An outside world on loopback: names, a web server behind ports 80 and 443 of every address, and one that says hello
 * first (as databases do) behind every other.
 */
export const fakeOutside = async () => {
  const tls = certificate("api.example.com", "*.example.com", "public.example.net")
  const web = createHttp((request, response) =>
    response.end(request.url === "/large" ? Buffer.alloc(1_000_000) : `${request.headers.host} over http`)
  )
  const secure = createHttps(tls, (request, response) => response.end(`${request.headers.host} over TLS`))
  const greeting = createServer((socket) => {
    socket.on("error", () => undefined)
    socket.write("hello\n")
    socket.pipe(socket)
  })
  const ports = {
    80: await listening(web),
    443: await listening(secure),
    other: await listening(greeting)
  }
  /** The addresses of each name; an error's code where there is none. */
  const names = new Map<string, ReadonlyArray<string> | string>()
  /** Where connections went, as address:port. */
  const connections: Array<string> = []
  const lookups: Array<string> = []
  const addresses = async (name: string) => {
    lookups.push(name)
    const found = names.get(name) ?? "ENOTFOUND"
    if (typeof found === "string") throw Object.assign(new Error(found), { code: found })
    return found
  }
  const outside: Outside = {
    addresses,
    privateAddresses: addresses,
    connect: (all, port) => {
      connections.push(`${all[0]}:${port}`)
      const there = port === 80 ? ports[80] : port === 443 ? ports[443] : ports.other
      return connect({ host: "127.0.0.1", port: there, allowHalfOpen: true })
    },
    own: () => ["198.51.99.7"]
  }
  return {
    outside,
    names,
    connections,
    lookups,
    authority: tls.cert,
    close: () => {
      for (const server of [web, secure, greeting]) server.close()
    }
  }
}

/** An MCP server with one tool, `run`: evaluates the body of an async function, and answers with what it returns. */
const app = `
const http = require("node:http")
const tool = { name: "run", description: "Runs code", inputSchema: { type: "object", properties: { code: { type: "string" } } } }
const AsyncFunction = (async () => {}).constructor
const answers = {
  initialize: () => ({ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "t", version: "1" } }),
  "tools/list": () => ({ tools: [tool] }),
  "tools/call": async ({ arguments: { code } }) => {
    const value = await new AsyncFunction("require", "tell", code)(require, tell).catch((e) => tell(e))
    return { content: [{ type: "text", text: JSON.stringify(value ?? null) }] }
  }
}
const tell = (e) => "failed " + (e.cause?.code ?? e.code ?? e.message)
http.createServer(async (q, s) => {
  let body = ""
  for await (const part of q) body += part
  s.setHeader("content-type", "application/json")
  if (q.url === "/healthz") return s.end("{}")
  if (q.method !== "POST") return s.writeHead(405).end("{}")
  const { id, method, params } = JSON.parse(body)
  if (id === undefined) return s.writeHead(202).end()
  s.end(JSON.stringify({ jsonrpc: "2.0", id, result: await answers[method]?.(params) }))
}).listen(process.env.PORT)
`

const programs = [process.execPath, "/usr/bin/curl"].filter((path) => existsSync(path))

export const hasCurl = programs.includes("/usr/bin/curl")

const librariesOf = (program: string) =>
  [...execFileSync("ldd", [program], { encoding: "utf8" }).matchAll(/(\/\S+) \(0x/g)].map(([, path = ""]) => path)

/** An image of that server with Node and curl, which trusts a certificate; in a layout of its own. */
export const probeImage = (authority: string, extra: ReadonlyArray<LayoutEntry> = []) =>
  Effect.gen(function*() {
    const directory = join(temporaryDirectory("image"), "layout")
    const copy = (path: string, to = path): LayoutEntry => ({
      type: "copy",
      path: to.slice(1),
      from: realpathSync(path),
      mode: 0o755
    })
    const libraries = new Set(programs.flatMap(librariesOf))
    yield* writeLayout(directory, {
      layers: [[
        ...programs.map((path) => copy(path, path === process.execPath ? "/usr/bin/node" : path)),
        ...[...libraries].map((path) => copy(path)),
        { type: "file", path: "app.cjs", content: app },
        { type: "file", path: "outside.pem", content: authority },
        ...extra
      ]],
      config: {
        entrypoint: ["/usr/bin/node", "/app.cjs"],
        cmd: [],
        env: ["NODE_EXTRA_CA_CERTS=/outside.pem", "CURL_CA_BUNDLE=/outside.pem"],
        workingDir: "/",
        user: ""
      }
    })
    return `oci:${directory}`
  }).pipe(Effect.orDie)
