import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { readFile, stat } from "node:fs/promises"
import { resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { findImage, type Layer, writeLayout } from "./image/layout.ts"
import { type ImageFile, nodeFiles } from "./image/libraries.ts"

export interface ReadyImage {
  /** Absolute path of the OCI image layout: `oci:` + path is its reference. */
  readonly path: string
  /** Digest of the image manifest. */
  readonly digest: string
  /** False when an image of the same content was there already. */
  readonly built: boolean
}

/** Beside this code when it runs from dist/, else in the project's dist/. */
const bundledServer = (): string => {
  const places = ["ready-server.js", "../../dist/ready-server.js"].map((place) =>
    fileURLToPath(new URL(place, import.meta.url))
  )
  const found = places.find((place) => existsSync(place))
  if (found === undefined) throw new Error("dist/ready-server.js is not there: run npm run build first")
  return found
}

const inputsKey = "berth.inputs"

/** The server by its content; Node and its libraries, 100 MB, by size and time of change. */
const fingerprint = async (server: string, files: ReadonlyArray<ImageFile>): Promise<string> => {
  const hash = createHash("sha256").update(`1 ${process.arch} ${process.version}\n`).update(await readFile(server))
  for (const { path, source } of files) {
    const { mtimeMs, size } = await stat(source)
    hash.update(`${path} ${source} ${size} ${mtimeMs}\n`)
  }
  return hash.digest("hex")
}

const architectures: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386", arm64: "arm64", arm: "arm" }

const users = "root:x:0:0:root:/:/sbin/nologin\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n"

/**
 * Makes the OCI image of the ready server from scratch, without Docker: the Node that runs this, its libraries, and
 * the one bundled file. Takes about a second; nothing when the content has not changed.
 *
 * @param outDir where the image layout goes; made when absent
 */
export const buildReadyImage = async (
  outDir: string,
  options: { readonly server?: string } = {}
): Promise<ReadyImage> => {
  if (process.platform !== "linux") throw new Error("The ready image can only be made on Linux: it takes this Node")
  const path = resolve(outDir)
  const server = options.server ?? bundledServer()
  const { files, libraryPath, node } = await nodeFiles()
  const inputs = await fingerprint(server, files)
  const present = await findImage(path, inputsKey, inputs)
  if (present !== undefined) return { path, digest: present, built: false }

  const runtime: Layer = {
    // Mount points: a driver that shows the image read-only cannot make them.
    directories: [
      { path: "/tmp", mode: 0o1777 },
      ...["/dev", "/proc", "/sys"].map((path) => ({ path, mode: 0o755 }))
    ],
    files: [
      ...files.map((file) => ({ path: file.path, mode: 0o755, content: { source: file.source } })),
      { path: "/etc/passwd", mode: 0o644, content: { text: users } },
      { path: "/etc/group", mode: 0o644, content: { text: "root:x:0:\nnogroup:x:65534:\n" } }
    ]
  }
  const app: Layer = {
    directories: [],
    files: [
      { path: "/app/server.js", mode: 0o644, content: { source: server } },
      { path: "/app/package.json", mode: 0o644, content: { text: "{\"type\":\"module\"}\n" } }
    ]
  }
  const libraries = libraryPath === undefined ? [] : [`LD_LIBRARY_PATH=${libraryPath}`]
  const { digest } = await writeLayout(path, [runtime, app], {
    architecture: architectures[process.arch] ?? process.arch,
    config: {
      Entrypoint: [node, "/app/server.js"],
      Env: ["PATH=/usr/local/bin:/usr/bin:/bin", "NODE_ENV=production", "PORT=8080", ...libraries],
      WorkingDir: "/app",
      ExposedPorts: { "8080/tcp": {} }
    },
    annotations: { [inputsKey]: inputs }
  })
  return { path, digest, built: true }
}
