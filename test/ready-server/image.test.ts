import { buildReadyImage } from "#src/ready-image/build-image.ts"
import { compiledFile, compileProgram, launcher, programFile } from "#src/ready-image/compiled-program.ts"
import { besideLibc, librariesOf, parseLdd } from "#src/ready-image/libraries.ts"
import { execFile, execFileSync, spawn } from "node:child_process"
import { createHash } from "node:crypto"
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { promisify } from "node:util"
import * as tar from "tar"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { describeLong, describeWhen, missingProgram } from "../support/needs.ts"
import { readyServerBundle } from "./bundle.ts"
import { restaurant } from "./config.ts"

const run = promisify(execFile)
const chroot = "chroot"
const notLinux = process.platform === "linux" ? undefined : "the ready image is made of this Node, on Linux only"
const noChroot = process.getuid?.() === 0 ? missingProgram(chroot) : "running an unpacked image here needs root"

interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

const home = mkdtempSync(join(tmpdir(), "ready-image-"))
const layout = join(home, "layout")
const blob = (digest: string) => join(layout, "blobs", ...digest.split(":"))
const readJson = (path: string) => JSON.parse(readFileSync(path, "utf8"))
const manifest = (digest: string) =>
  readJson(blob(digest)) as { readonly config: Descriptor; readonly layers: ReadonlyArray<Descriptor> }

describeLong("the ready image", () => {
  let server: string
  let digest: string
  beforeAll(async () => {
    server = join(home, "server.js")
    copyFileSync(await readyServerBundle(), server)
    ;({ digest } = await buildReadyImage(layout, { server }))
  }, 60_000)
  afterAll(() => rmSync(home, { recursive: true, force: true }))

  it("is an OCI layout whose every blob has the digest and size that name it", () => {
    expect(readJson(join(layout, "oci-layout"))).toEqual({ imageLayoutVersion: "1.0.0" })
    const [entry] = readJson(join(layout, "index.json")).manifests as ReadonlyArray<Descriptor>
    expect(entry?.digest).toBe(digest)
    const { config, layers } = manifest(digest)
    const named = [entry, config, ...layers] as ReadonlyArray<Descriptor>
    for (const part of named) {
      const bytes = readFileSync(blob(part.digest))
      expect(bytes.length).toBe(part.size)
      expect(`sha256:${createHash("sha256").update(bytes).digest("hex")}`).toBe(part.digest)
    }
    expect(readdirSync(join(layout, "blobs/sha256"))).toHaveLength(named.length)
    const { diff_ids } = readJson(blob(config.digest)).rootfs
    expect(diff_ids).toHaveLength(layers.length)
  })

  it("names this platform, and starts the bundled server with the image's own Node", () => {
    const config = readJson(blob(manifest(digest).config.digest))
    expect(config).toMatchObject({
      os: "linux",
      architecture: process.arch === "x64" ? "amd64" : process.arch,
      config: { Entrypoint: ["/usr/local/bin/node", "/app/start.cjs"] }
    })
  })

  it("holds its program compiled, with the same bytes each time, which its Node takes", async () => {
    const env = { SVC_READY_CONFIG: JSON.stringify(restaurant) }
    const folder = mkdtempSync(join(home, "compiled-"))
    const [one, other] = [await compileProgram(server, env, folder), await compileProgram(server, env, folder)]
    expect(one.equals(other)).toBe(true)
    copyFileSync(server, join(folder, programFile))
    const taken = `console.log(scriptOf(file, readFileSync(__dirname + "/${compiledFile}")).cachedDataRejected)`
    writeFileSync(join(folder, "start.cjs"), launcher.replace(/^run\(.*$/m, taken))
    const isRejected = (compiled: Buffer) => {
      writeFileSync(join(folder, compiledFile), compiled)
      return execFileSync(process.execPath, [join(folder, "start.cjs")], { encoding: "utf8" }).trim()
    }
    expect(isRejected(one)).toBe("false")
    expect(isRejected(Buffer.from("of another Node"))).toBe("true")
    await expect(compileProgram(server, { SVC_READY_CONFIG: "{}" }, mkdtempSync(join(home, "wrong-")))).rejects.toThrow(
      /before it listened: .*SVC_READY_CONFIG is wrong/
    )
  }, 30_000)

  it("is left alone while nothing changes, and keeps the one before for who has just found it", async () => {
    const index = statSync(join(layout, "index.json")).mtimeMs
    expect(await buildReadyImage(layout, { server })).toEqual({ path: layout, digest, built: false })
    expect(statSync(join(layout, "index.json")).mtimeMs).toBe(index)
    const other = join(home, "other.js")
    writeFileSync(other, `${readFileSync(server, "utf8")}\n`)
    const changed = await buildReadyImage(layout, { server: other })
    expect(changed.built).toBe(true)
    expect(changed.digest).not.toBe(digest)
    expect(readJson(join(layout, "index.json")).manifests).toHaveLength(1)
    // Node's layer is that of both.
    expect(readdirSync(join(layout, "blobs/sha256"))).toHaveLength(7)
    expect((await buildReadyImage(layout, { server })).digest).toBe(digest)
  })

  it("is made again when a blob is gone or cut short", async () => {
    const [layer] = manifest(digest).layers
    writeFileSync(blob(layer?.digest ?? ""), "short")
    expect(await buildReadyImage(layout, { server })).toMatchObject({ digest, built: true })
    expect(statSync(blob(layer?.digest ?? "")).size).toBe(layer?.size)
  })

  it("is built by npm run image:ready where the platform of the same BERTH_HOME looks for it", async () => {
    const BERTH_HOME = join(home, "berth")
    const { stdout } = await run(process.execPath, ["--import", "tsx", "src/ready-image/image-cli.ts"], {
      env: { ...process.env, BERTH_HOME }
    })
    expect(stdout).toContain(`Built oci:${BERTH_HOME}/ready-image\n`)
    expect(existsSync(join(BERTH_HOME, "ready-image/index.json"))).toBe(true)
  }, 30_000)

  it("leaves nothing behind when a file cannot be read", async () => {
    const broken = join(home, "broken")
    await expect(buildReadyImage(broken, { server: join(home, "absent.js") })).rejects.toThrow("absent.js")
    expect(existsSync(join(broken, "index.json"))).toBe(false)
  })

  describeWhen(
    noChroot,
    "unpacked",
    () =>
      it("holds all that its Node needs: it serves from its own root", async () => {
        const root = mkdtempSync(join(home, "root-"))
        for (const { digest: layer } of manifest(digest).layers) await tar.extract({ file: blob(layer), cwd: root })
        const path = { PATH: process.env.PATH ?? "" }
        const version = execFileSync(chroot, [root, "/usr/local/bin/node", "--version"], { env: path }).toString()
          .trim()
        expect(version).toBe(process.version)
        const env = { ...path, SVC_READY_CONFIG: JSON.stringify(restaurant), PORT: "0" }
        const child = spawn(chroot, [root, "/usr/local/bin/node", "/app/start.cjs"], {
          env,
          stdio: ["ignore", "pipe", "pipe"]
        })
        let output = ""
        for (const stream of [child.stdout, child.stderr]) {
          stream.on("data", (chunk: Buffer) => (output += chunk.toString()))
        }
        try {
          await expect.poll(() => output, { timeout: 10_000 }).toMatch(/on port \d+/)
          const port = /on port (\d+)/.exec(output)?.[1]
          expect(await (await fetch(`http://127.0.0.1:${port}/healthz`)).json()).toMatchObject({ status: "ok" })
        } finally {
          child.kill("SIGKILL")
        }
      }, 30_000)
  )
}, notLinux)

describe("the libraries of a binary", () => {
  it("are the files that ldd names, the loader among them", () => {
    const glibc = "\tlinux-vdso.so.1 (0x00007f)\n\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f)\n" +
      "\t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n"
    expect(parseLdd(glibc)).toEqual(["/lib/x86_64-linux-gnu/libm.so.6", "/lib64/ld-linux-x86-64.so.2"])
    const musl = "\t/lib/ld-musl-x86_64.so.1 (0x7f)\n\tlibc.musl-x86_64.so.1 => /lib/ld-musl-x86_64.so.1 (0x7f)\n"
    expect(parseLdd(musl)).toEqual(["/lib/ld-musl-x86_64.so.1"])
  })

  it("are joined by those of glibc that programs in packages are linked with, though Node may not be", async () => {
    const linked = await librariesOf(process.execPath)
    const beside = await besideLibc(linked)
    const names = [...linked, ...beside].map((path) => basename(path))
    for (
      const name of ["librt.so.1", "libutil.so.1", "libresolv.so.2", "libanl.so.1", "libdl.so.2", "libnss_dns.so.2"]
    ) {
      expect(names.filter((one) => one === name), name).toHaveLength(1)
    }
    expect(names).not.toContain("librtmp.so.1")
    expect(await besideLibc(["/lib/ld-musl-x86_64.so.1"])).toEqual([])
  })

  it("that are missing stop the build with their name", () => {
    expect(() => parseLdd("\tlibatomic.so.1 => not found\n")).toThrow("libatomic.so.1")
  })
})
