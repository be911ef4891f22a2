import { imageOfFolder } from "#src/folder-image/image-of-folder.ts"
import { runFolder } from "#src/folder-image/run-folders.ts"
import { Effect } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { once } from "node:events"
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { createServer, type ServerResponse } from "node:http"
import { type AddressInfo } from "node:net"
import { join } from "node:path"
import * as tar from "tar"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { stdioShimBundle } from "../../ready-server/bundle.ts"
import { describeWhen } from "../../support/needs.ts"
import { temporaryDirectory } from "../../support/Settings.ts"

const root = join(import.meta.dirname, "../../..")
const names = Array.from({ length: 40 }, (_, at) => `part-${at}.js`)
const missing = process.platform === "linux" ? undefined : "a project of Node is made into an image on Linux"
const longAgo = new Date(Date.now() - 2 * 24 * 60 * 60_000)

/** A package of npm, and what its lock says of it. */
const packed = async () => {
  const folder = temporaryDirectory("dependency")
  mkdirSync(join(folder, "package"))
  writeFileSync(join(folder, "package/package.json"), JSON.stringify({ name: "parts", version: "1.0.0" }))
  for (const name of names) writeFileSync(join(folder, "package", name), `export default "${name}"\n`)
  await tar.create({ file: join(folder, "parts.tgz"), cwd: folder, gzip: true }, ["package"])
  const bytes = readFileSync(join(folder, "parts.tgz"))
  return { bytes, integrity: `sha512-${createHash("sha512").update(bytes).digest("base64")}` }
}

describeWhen(missing, "the dependencies of a folder", () => {
  const cache = temporaryDirectory("cache")
  const folder = temporaryDirectory("project")
  const waiting: Array<ServerResponse> = []
  let bytes: Buffer
  let enough = 1
  const registry = createServer((_, response) => {
    waiting.push(response)
    if (waiting.length >= enough) { for (const each of waiting.splice(0)) each.end(bytes) }
  })

  const make = async () => {
    const work = temporaryDirectory("work")
    const said: Array<string> = []
    const say = (line: string) => Effect.sync(() => void said.push(line))
    const made = imageOfFolder(folder, work, { cache, transport: "stdio", say })
    const { digest, layout } = await Effect.runPromise(made)
    const blob = (of: string) => join(layout, "blobs/sha256", of.replace("sha256:", ""))
    const { layers } = JSON.parse(readFileSync(blob(digest), "utf8")) as { layers: ReadonlyArray<{ digest: string }> }
    const files: Array<string> = []
    // Below the project's own files, which are the last layer.
    await tar.list({ file: blob(layers.at(-2)!.digest), onentry: ({ path }) => files.push(path) })
    return { digest, said, files: files.filter((path) => path.includes("/part-")) }
  }
  const whole = names.map((name) => `app/node_modules/parts/${name}`).toSorted()

  /** Another lock: what it says is installed anew. */
  const lockAs = (name: string) => {
    const { integrity, url } = dependency
    const own = { name, version: "1.0.0", dependencies: { parts: url } }
    writeFileSync(join(folder, "package.json"), JSON.stringify({ ...own, bin: "server.js" }))
    writeFileSync(
      join(folder, "package-lock.json"),
      JSON.stringify({
        name,
        lockfileVersion: 3,
        packages: { "": own, "node_modules/parts": { version: "1.0.0", resolved: url, integrity } }
      })
    )
    // Asks the registry each time, so that a test knows when it is at work.
    writeFileSync(join(folder, ".npmrc"), `cache=${temporaryDirectory("npm")}\n`)
  }
  let dependency: { url: string; integrity: string }

  beforeAll(async () => {
    await stdioShimBundle()
    registry.listen(0, "127.0.0.1")
    await once(registry, "listening")
    const { port } = registry.address() as AddressInfo
    const { integrity, ...made } = await packed()
    bytes = made.bytes
    dependency = { url: `http://127.0.0.1:${port}/parts.tgz`, integrity }
    writeFileSync(join(folder, "server.js"), "// StdioServerTransport\n")
    lockAs("first")
  }, 60_000)
  afterAll(() => {
    registry.closeAllConnections()
    registry.close()
  })

  it(
    "end with a run that is killed as it installs, and the next run makes them and sweeps what that left",
    async () => {
      enough = 2
      const program = `
      import { imageOfFolder } from "#src/folder-image/image-of-folder.ts"
      import { Effect } from "effect"
      const options = { cache: ${JSON.stringify(cache)}, transport: "stdio", say: () => Effect.void }
      await Effect.runPromise(imageOfFolder(${JSON.stringify(folder)}, ${
        JSON.stringify(join(cache, "work"))
      }, options))`
      const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "--eval", program], {
        cwd: root,
        stdio: "ignore"
      })
      const [, asked] = await once(registry, "request") as [unknown, ServerResponse]
      const left = readdirSync(join(cache, "installing"))
      expect(left).toHaveLength(1)
      child.kill("SIGKILL")
      await once(child, "exit")
      // npm, which would wait for its answer, goes with the run.
      if (spawnSync("setpriv", ["--pdeathsig", "KILL", "true"]).status === 0 && !asked.closed) {
        await once(asked, "close")
      }
      waiting.length = 0
      enough = 1

      mkdirSync(join(cache, "projects", "0123456789abcdef-install"), { recursive: true })
      mkdirSync(join(cache, "projects", "0123456789abcdef"))
      utimesSync(join(cache, "projects", "0123456789abcdef-install"), longAgo, longAgo)
      const { files, said } = await make()
      expect(files).toEqual(whole)
      expect(said.join()).toContain("Installing")
      expect(readdirSync(join(cache, "installing"))).toEqual([])
      // What an earlier version kept goes, too, unless that may be at work.
      expect(readdirSync(join(cache, "projects"))).toEqual(["0123456789abcdef"])
    },
    60_000
  )

  it("are whole in each of two runs that install them at once, and in the one that takes what these kept", async () => {
    lockAs("second")
    const [kept] = readdirSync(join(cache, "dependencies"))
    utimesSync(join(cache, "dependencies", kept!), longAgo, longAgo)
    enough = 2
    const both = await Promise.all([make(), make()])
    enough = 1
    const later = await make()
    expect(both.map(({ files }) => files)).toEqual([whole, whole])
    expect(both.map(({ said }) => said.join().includes("Installing"))).toEqual([true, true])
    expect(later.said.join()).not.toContain("Installing")
    expect(later.files).toEqual(whole)
    expect(new Set([...both, later].map(({ digest }) => digest)).size).toBe(1)
    expect(readdirSync(join(cache, "installing"))).toEqual([])
    // One is kept, and what nobody used for long under another lock is not.
    expect(readdirSync(join(cache, "dependencies"))).toEqual([expect.not.stringMatching(kept!)])
  }, 60_000)

  it("are made again where what is kept of them is damaged", async () => {
    const blobs = join(cache, "dependencies", readdirSync(join(cache, "dependencies"))[0]!, "blobs/sha256")
    for (const name of readdirSync(blobs)) writeFileSync(join(blobs, name), "")
    const { files, said } = await make()
    expect(said.join()).toContain("Installing")
    expect(files).toEqual(whole)
    expect((await make()).said.join()).not.toContain("Installing")
  }, 60_000)
})

describe("the folder of a run", () => {
  const names = (parent: string) => readdirSync(parent).toSorted()

  it("is its own, goes with it, and is left alone by another as long as it runs", async () => {
    const parent = temporaryDirectory("runs")
    const used = await Effect.runPromise(Effect.scoped(Effect.gen(function*() {
      const first = yield* runFolder(parent, "run-")
      const second = yield* runFolder(parent, "run-")
      expect(first).not.toBe(second)
      return [existsSync(first), existsSync(second)]
    })))
    expect(used).toEqual([true, true])
    expect(names(parent)).toEqual([])
  })

  it("goes with the next run where its own was killed; what another host's run made, or none, stays for a day", async () => {
    const parent = temporaryDirectory("runs")
    const ended = spawnSync("true").pid
    await Effect.runPromise(Effect.scoped(Effect.gen(function*() {
      const own = yield* runFolder(parent, "run-")
      const killed = own.replace(`-${process.pid}-`, `-${ended}-`)
      mkdirSync(join(killed, "below"), { recursive: true })
      for (const name of [`run-00000000-${ended}-abcdef`, "run-old123", "run-new123", "other-old123"]) {
        mkdirSync(join(parent, name))
      }
      mkdirSync(join(parent, "aim"))
      symlinkSync(join(parent, "aim"), join(parent, killed.replace(/.{6}$/, "linked").slice(parent.length + 1)))
      for (const name of ["run-old123", "other-old123"]) utimesSync(join(parent, name), longAgo, longAgo)
      const next = yield* runFolder(parent, "run-")
      expect(names(parent).map((name) => join(parent, name))).toEqual(
        [
          ...["aim", "other-old123", `run-00000000-${ended}-abcdef`, "run-new123"].map((name) => join(parent, name)),
          own,
          next
        ].toSorted()
      )
    })))
  })
})
