import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { buffer } from "node:stream/consumers"
import { gzipSync } from "node:zlib"
import { type Header, pack } from "tar-stream"

/** A tar entry as it is written, with no rule about its name: hostile archives are made of these. */
export type RawEntry = Partial<Omit<Header, "name">> & { readonly name: string; readonly content?: string | Buffer }

export interface TestImage {
  readonly digest: string
  readonly mediaType: string
  readonly manifest: Buffer
  readonly blobs: ReadonlyMap<string, Buffer>
}

const sha256 = (bytes: Uint8Array) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`

export const tarOf = async (entries: ReadonlyArray<RawEntry>): Promise<Buffer> => {
  const archive = pack()
  for (const { content, ...header } of entries) {
    if (content === undefined) archive.entry({ ...header, size: 0 }, "")
    else archive.entry(header, content)
  }
  archive.finalize()
  return buffer(archive)
}

export interface TestImageOptions {
  readonly layers?: ReadonlyArray<ReadonlyArray<RawEntry>>
  /** Ready archives, put after `layers`: for what `tarOf` cannot write. */
  readonly archives?: ReadonlyArray<Buffer>
  readonly architecture?: string
  readonly os?: string
  readonly config?: Readonly<Record<string, unknown>>
  readonly docker?: boolean
  readonly layerType?: string
  readonly compress?: (archive: Buffer) => Buffer
  readonly change?: (manifest: Record<string, unknown>) => Record<string, unknown>
  readonly diffIds?: ReadonlyArray<string>
}

const goArch: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64", arm: "arm" }
export const thisArch = goArch[process.arch] ?? process.arch

const types = (docker: boolean) =>
  docker
    ? {
      manifest: "application/vnd.docker.distribution.manifest.v2+json",
      index: "application/vnd.docker.distribution.manifest.list.v2+json",
      config: "application/vnd.docker.container.image.v1+json",
      layer: "application/vnd.docker.image.rootfs.diff.tar.gzip"
    }
    : {
      manifest: "application/vnd.oci.image.manifest.v1+json",
      index: "application/vnd.oci.image.index.v1+json",
      config: "application/vnd.oci.image.config.v1+json",
      layer: "application/vnd.oci.image.layer.v1.tar+gzip"
    }

const json = (value: unknown) => Buffer.from(JSON.stringify(value))

/** An image in memory; without options one layer with /hello for this machine's architecture. */
export const testImage = async (options: TestImageOptions = {}): Promise<TestImage> => {
  const named = types(options.docker ?? false)
  const archives = [
    ...await Promise.all(
      (options.layers ?? (options.archives ? [] : [[{ name: "hello", content: "hello\n" }]])).map(tarOf)
    ),
    ...options.archives ?? []
  ]
  const layers = archives.map(options.compress ?? ((archive) => gzipSync(archive)))
  const config = json({
    architecture: options.architecture ?? thisArch,
    os: options.os ?? "linux",
    config: { Entrypoint: null, Cmd: ["/hello"], Env: ["PATH=/bin"], WorkingDir: "/", User: "", ...options.config },
    rootfs: { type: "layers", diff_ids: options.diffIds ?? archives.map(sha256) }
  })
  const describe = (mediaType: string) => (bytes: Buffer) => ({ mediaType, digest: sha256(bytes), size: bytes.length })
  const plain = {
    schemaVersion: 2,
    mediaType: named.manifest,
    config: describe(named.config)(config),
    layers: layers.map(describe(options.layerType ?? named.layer))
  }
  const manifest = json(options.change?.(plain) ?? plain)
  const blobs = new Map([config, ...layers].map((bytes) => [sha256(bytes), bytes]))
  return { digest: sha256(manifest), mediaType: named.manifest, manifest, blobs }
}

export interface TestPlatform {
  readonly architecture: string
  readonly os: string
  readonly variant?: string
}

/** An index over images; its blobs are those of all of them, manifests included. */
export const testIndex = (
  images: ReadonlyArray<{ readonly image: TestImage; readonly platform?: TestPlatform }>,
  docker = false
): TestImage => {
  const mediaType = types(docker).index
  const manifest = json({
    schemaVersion: 2,
    mediaType,
    manifests: images.map(({ image, platform }) => ({
      mediaType: image.mediaType,
      digest: image.digest,
      size: image.manifest.length,
      ...(platform === undefined ? {} : { platform })
    }))
  })
  const blobs = new Map(images.flatMap(({ image }) => [...image.blobs]))
  return { digest: sha256(manifest), mediaType, manifest, blobs }
}

/** The image that an OCI layout has under a tag, for pushing it. */
export const imageFromLayout = (directory: string, tag = "latest"): TestImage => {
  const blob = (digest: string) => readFileSync(join(directory, "blobs", ...digest.split(":")))
  const index = JSON.parse(readFileSync(join(directory, "index.json"), "utf8"))
  const found = index.manifests.find((listed: { annotations?: Record<string, string> }) =>
    listed.annotations?.["org.opencontainers.image.ref.name"] === tag
  )
  const manifest = blob(found.digest)
  const { config, layers } = JSON.parse(manifest.toString())
  const digests: ReadonlyArray<string> = [config, ...layers].map(({ digest }) => digest)
  return {
    digest: found.digest,
    mediaType: found.mediaType,
    manifest,
    blobs: new Map(digests.map((digest) => [digest, blob(digest)]))
  }
}
