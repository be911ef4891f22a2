import { createHash } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:http"
import { type AddressInfo } from "node:net"
import { gzipSync } from "node:zlib"
import { type RawEntry, tarOf } from "../../support/image.ts"

interface Version {
  readonly manifest: Readonly<Record<string, unknown>>
  readonly tarball: Buffer
  /** Where the manifest says the file is; undefined: here. */
  readonly elsewhere: string | undefined
}

/** A registry of npm's in this process, over plain http: list its `host` in ALLOWED_PRIVATE_HOSTS. */
export const startNpmRegistry = async () => {
  const packages = new Map<string, Map<string, Version>>()
  const seen: Array<string> = []
  /** Names that are answered for only when they are let go, and with "/-" behind it those whose files are. */
  const held = new Map<string, Promise<void>>()

  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "")
    seen.push(path)
    const [name = "", file] = path.slice(1).split("/-/")
    const waits = held.get(file === undefined ? name : `${name}/-`)
    if (waits !== undefined) return void waits.then(() => server.emit("request", request, response))
    const versions = packages.get(name)
    if (versions === undefined) return response.writeHead(404).end("{}")
    if (file !== undefined) {
      const found = versions.get(file.replace(/\.tgz$/, ""))
      return found === undefined ? response.writeHead(404).end() : response.end(found.tarball)
    }
    const all = [...versions.keys()]
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify({
      name,
      "dist-tags": { latest: all.at(-1), next: all[0] },
      versions: Object.fromEntries([...versions].map(([version, { elsewhere, manifest, tarball }]) => [version, {
        ...manifest,
        dist: {
          tarball: elsewhere ?? `${url}/${name}/-/${version}.tgz`,
          integrity: `sha512-${createHash("sha512").update(tarball).digest("base64")}`
        }
      }]))
    }))
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const url = `http://${host}`

  /** Publishes a version; `files` lie in the package's folder, `entries` wherever they say. */
  const publish = async (
    name: string,
    version: string,
    files: Readonly<Record<string, string>>,
    fields: Readonly<Record<string, unknown>> = {},
    entries: ReadonlyArray<RawEntry> = [],
    elsewhere?: string
  ) => {
    const manifest = { name, version, ...fields }
    const all = Object.entries({ "package.json": JSON.stringify(manifest), ...files })
    const tarball = gzipSync(
      await tarOf([
        ...all.map(([path, content]): RawEntry => ({ name: `package/${path}`, content })),
        ...entries
      ])
    )
    const versions = packages.get(name) ?? new Map<string, Version>()
    packages.set(name, versions.set(version, { elsewhere, manifest, tarball }))
  }

  /** Holds what is asked about a package until the answer is called; with "/-" behind its name, its files. */
  const hold = (name: string) => {
    let letGo = () => {}
    held.set(name, new Promise((resolve) => (letGo = resolve)))
    return () => {
      held.delete(name)
      letGo()
    }
  }

  const unpublish = (name: string) => void packages.delete(name)

  const close = async () => {
    server.closeAllConnections()
    server.close()
    await once(server, "close")
  }
  return { host, url, seen, publish, unpublish, hold, close }
}

export type NpmRegistry = Awaited<ReturnType<typeof startNpmRegistry>>
