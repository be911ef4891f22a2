import { cachedLayout } from "#src/ready-image/cached-layout.ts"
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"
import { temporaryDirectory } from "../support/Settings.ts"

const program = ["--import", "tsx", join(import.meta.dirname, "cached-layout.program.ts")]
const run = promisify(execFile)

const config = { entrypoint: ["/a"], cmd: [], env: [], workingDir: "/", user: "" }
const imageOf = (content: string) => ({ layers: [[{ type: "file", path: "a", content }]], config } as const)

const blob = (layout: string, digest: string) => join(layout, "blobs", ...digest.split(":"))
const json = (path: string) => JSON.parse(readFileSync(path, "utf8"))
/** Whether the image that the index names is there with all its parts. */
const isWhole = (layout: string) => {
  const [{ digest }] = json(join(layout, "index.json")).manifests
  const { config, layers } = json(blob(layout, digest))
  for (const part of [config, ...layers]) expect(readFileSync(blob(layout, part.digest)).length).toBe(part.size)
  expect(readdirSync(layout).sort()).toEqual(["blobs", "index.json", "oci-layout"])
}

describe("a layout that several want at the same time", () => {
  it("is made once for all who ask within a process, and each gets its image", async () => {
    const layout = join(temporaryDirectory("cached"), "layout")
    let times = 0
    const ask = () =>
      cachedLayout(layout, "same", async () => {
        times++
        return Promise.resolve(imageOf("same"))
      })
    const all = await Promise.all(Array.from({ length: 8 }, ask))
    expect(times).toBe(1)
    expect(new Set(all.map(({ digest }) => digest)).size).toBe(1)
    expect(await ask()).toEqual({ ...all[0], built: false })
    isWhole(layout)
  })

  it("is whole whoever ends first, also where they want different images", async () => {
    const layout = join(temporaryDirectory("cached"), "layout")
    await Promise.all(["one", "two", "two"].map((inputs) => run(process.execPath, [...program, layout, inputs, "6"])))
    isWhole(layout)
  }, 60_000)

  it("keeps nothing of a process that was killed meanwhile", async () => {
    const layout = join(temporaryDirectory("cached"), "layout")
    const child = spawn(process.execPath, [...program, layout, "endless", "1"], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    await once(child.stdout, "data")
    expect(readdirSync(layout)).toEqual([expect.stringMatching(/^\.tmp-/)])
    child.kill("SIGKILL")
    await once(child, "exit")
    expect((await cachedLayout(layout, "next", () => Promise.resolve(imageOf("next")))).built).toBe(true)
    isWhole(layout)
  }, 30_000)

  it("stays as it is when the next image can't be made", async () => {
    const layout = join(temporaryDirectory("cached"), "layout")
    await cachedLayout(layout, "first", () => Promise.resolve(imageOf("first")))
    await expect(cachedLayout(layout, "second", () => Promise.reject(new Error("no room")))).rejects.toThrow("no room")
    expect((await cachedLayout(layout, "first", () => Promise.reject(new Error("not asked")))).built).toBe(false)
    isWhole(layout)
  })
})
