import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, writeFileSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { createServer as createSocket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { TestImage } from "./image.ts"
import { missingProgram } from "./needs.ts"

export * from "./image.ts"

export interface FakeRegistryOptions {
  /** Asks for a Bearer token that its own /token gives, or for Basic credentials; "deny" gives none. */
  readonly auth?: "token" | "deny" | "basic"
  /** `user:password` that /token, or everything with Basic, wants now; without it /token gives anybody a token. */
  readonly login?: () => string
  /** Sends blobs by a 307 to a second server on another port, as object stores are used. */
  readonly redirectBlobs?: boolean
  /** Takes over a request; returns true when it has answered. */
  readonly intercept?: (request: IncomingMessage, response: ServerResponse) => boolean
}

export interface SeenRequest {
  readonly host: string
  readonly method: string
  readonly path: string
  readonly authorization: string | undefined
}

const listen = async (handle: (request: IncomingMessage, response: ServerResponse) => void) => {
  const server = createServer(handle)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  const close = async () => {
    server.closeAllConnections()
    server.close()
    await once(server, "close")
  }
  return { host: `127.0.0.1:${port}`, close }
}

/**
 * A registry in this process, pull side only, over plain http: list its `host` in ALLOWED_PRIVATE_HOSTS. Images are
 * added under `repository` and a tag, and can be made wrong afterwards through `blobs` and `manifests`.
 */
export const startFakeRegistry = async (options: FakeRegistryOptions = {}) => {
  const blobs = new Map<string, Buffer>()
  /** By `repository:reference`. */
  const manifests = new Map<string, { readonly bytes: Buffer; readonly mediaType: string }>()
  const seen: Array<SeenRequest> = []
  let tokens = 0

  const note = (request: IncomingMessage) =>
    seen.push({
      host: request.headers.host ?? "",
      method: request.method ?? "",
      path: request.url ?? "",
      authorization: request.headers.authorization
    })

  const sendBlob = (response: ServerResponse, digest: string) => {
    const bytes = blobs.get(digest)
    if (bytes === undefined) response.writeHead(404).end("{}")
    else response.writeHead(200, { "content-length": bytes.length }).end(bytes)
  }

  const objects = await listen((request, response) => {
    note(request)
    sendBlob(response, request.url?.slice("/objects/".length) ?? "")
  })

  const answer = (request: IncomingMessage, response: ServerResponse, host: string) => {
    const url = new URL(request.url ?? "/", `http://${host}`)
    const wanted = options.login && `Basic ${Buffer.from(options.login()).toString("base64")}`
    const isUser = wanted === undefined || request.headers.authorization === wanted
    if (url.pathname === "/token") {
      if (options.auth === "deny" || !isUser) return response.writeHead(401).end("{}")
      return response.end(JSON.stringify({ token: `token-${++tokens}`, scope: url.searchParams.get("scope") }))
    }
    if (options.auth === "basic") {
      if (!isUser) return response.writeHead(401, { "www-authenticate": "Basic realm=\"test\"" }).end("{}")
    } else if (options.auth !== undefined && request.headers.authorization !== `Bearer token-${tokens}`) {
      const challenge = `Bearer realm="http://${host}/token",service="test registry"`
      return response.writeHead(401, { "www-authenticate": challenge }).end("{}")
    }
    if (url.pathname === "/v2/") return response.end("{}")
    const [, repository = "", kind, reference = ""] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(url.pathname) ??
      []
    if (kind === "blobs") {
      if (options.redirectBlobs !== true) return sendBlob(response, reference)
      return response.writeHead(307, { location: `http://${objects.host}/objects/${reference}` }).end()
    }
    const found = manifests.get(`${repository}:${reference}`)
    if (found === undefined) return response.writeHead(404).end("{}")
    return response.writeHead(200, { "content-type": found.mediaType, "content-length": found.bytes.length })
      .end(request.method === "HEAD" ? undefined : found.bytes)
  }

  const main = await listen((request, response) => {
    note(request)
    if (options.intercept?.(request, response) !== true) answer(request, response, main.host)
  })

  /** Adds the image by its digest, and by `tag` when given; answers with its address by tag, else by digest. */
  const add = (repository: string, image: TestImage, tag?: string): string => {
    const entry = { bytes: image.manifest, mediaType: image.mediaType }
    manifests.set(`${repository}:${image.digest}`, entry)
    if (tag !== undefined) manifests.set(`${repository}:${tag}`, entry)
    for (const [digest, bytes] of image.blobs) blobs.set(digest, bytes)
    return `${main.host}/${repository}${tag === undefined ? `@${image.digest}` : `:${tag}`}`
  }

  /** Lets tokens given so far count no more. */
  const expireTokens = () => void tokens++

  const close = async () => {
    await main.close()
    await objects.close()
  }

  return { host: main.host, objectsHost: objects.host, blobs, manifests, seen, add, expireTokens, close }
}

const program = "docker-registry"

/** Why Debian's docker-registry cannot be started here, or undefined. */
export const missingDockerRegistry = missingProgram(program)

const freePort = async () => {
  const probe = createSocket().listen(0, "127.0.0.1")
  await once(probe, "listening")
  const address = probe.address()
  probe.close()
  await once(probe, "close")
  return typeof address === "object" && address !== null ? address.port : 0
}

/** Starts Debian's docker-registry on a free loopback port, over plain http, its files in a directory of its own. */
export const startDockerRegistry = async () => {
  const directory = mkdtempSync(join(tmpdir(), "berth-test-registry-"))
  const host = `127.0.0.1:${await freePort()}`
  const file = join(directory, "config.yml")
  writeFileSync(
    file,
    `version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: ` +
      `${join(directory, "data")}}, delete: {enabled: true}}\n` +
      `http: {addr: "${host}"}\n`
  )
  const child = spawn(program, ["serve", file], { stdio: "ignore" })
  const close = async () => {
    if (child.exitCode !== null) return
    const gone = once(child, "exit")
    child.kill("SIGTERM")
    await gone
  }
  for (let tries = 0; tries < 100; tries++) {
    const up = await fetch(`http://${host}/v2/`).then(({ ok }) => ok, () => false)
    if (up) return { host, close }
    await sleep(50)
  }
  await close()
  throw new Error("docker-registry did not start within 5 seconds")
}

const pushed = async (what: string, response: Response) => {
  if (!response.ok) throw new Error(`${what}: ${response.status} ${await response.text()}`)
  return response
}

/** Pushes an image, or an index whose images were pushed before, to a plain-http registry; answers with its address. */
export const pushImage = async (host: string, repository: string, image: TestImage, tag = "latest") => {
  const base = `http://${host}/v2/${repository}`
  for (const [digest, bytes] of image.blobs) {
    const begun = await pushed("starting an upload", await fetch(`${base}/blobs/uploads/`, { method: "POST" }))
    const place = new URL(begun.headers.get("location") ?? "", base)
    place.searchParams.set("digest", digest)
    const headers = { "content-type": "application/octet-stream" }
    await pushed("uploading a blob", await fetch(place, { method: "PUT", headers, body: new Uint8Array(bytes) }))
  }
  const headers = { "content-type": image.mediaType }
  const body = new Uint8Array(image.manifest)
  for (const name of new Set([image.digest, tag])) {
    await pushed("putting a manifest", await fetch(`${base}/manifests/${name}`, { method: "PUT", headers, body }))
  }
  return `${host}/${repository}:${tag}`
}
