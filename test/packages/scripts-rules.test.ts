import { isInside, takeFiles } from "#src/packages/script-files.ts"
import { aboutScripts, scriptFailure } from "#src/packages/scripts.ts"
import { Effect, Either } from "effect"
import { once } from "node:events"
import { existsSync, readdirSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { temporaryDirectory } from "../support/Settings.ts"

/** What a machine sends that is not ours any more: each header with its length before it, and what follows it. */
const sent = (...parts: ReadonlyArray<object | string>) =>
  Buffer.concat(parts.map((part) => {
    if (typeof part === "string") return Buffer.from(part)
    const text = Buffer.from(JSON.stringify(part))
    const size = Buffer.alloc(4)
    size.writeUInt32BE(text.length)
    return Buffer.concat([size, text])
  }))

const taken = async (bytes: Buffer, folder = temporaryDirectory("taken")) => {
  const path = join(temporaryDirectory("m"), "s")
  const server = createServer((socket) => socket.end(bytes))
  await once(server.listen(path), "listening")
  const result = await Effect.runPromise(Effect.either(takeFiles({ _tag: "Unix", path }, folder)))
  server.close()
  return { folder, result }
}

const top = { path: "node_modules" }

describe("files that install scripts wrote", () => {
  it("are taken as they are", async () => {
    const file = { path: "node_modules/a", size: 5, mode: 0o755 }
    const { folder, result } = await taken(sent(top, file, "hello", { path: "node_modules/b" }, { end: true }))
    expect(result).toEqual(Either.right(true))
    expect(readdirSync(join(folder, "node_modules")).sort()).toEqual(["a", "b"])
  })

  it("are not there yet while the port is closed", async () => {
    expect((await taken(Buffer.alloc(0))).result).toEqual(Either.right(false))
    const nobody = { _tag: "Unix", path: join(temporaryDirectory("m"), "s") } as const
    expect(await Effect.runPromise(takeFiles(nobody, temporaryDirectory("taken")))).toBe(false)
  })

  it.each([
    ["a path that leads up", sent(top, { path: "node_modules/../../climbed", size: 1 }, "x", { end: true })],
    ["an absolute path", sent({ path: "/etc/climbed", size: 1 }, "x", { end: true })],
    ["another folder", sent({ path: "elsewhere" }, { end: true })],
    ["another program's words", Buffer.from("HTTP/1.1 200 OK\r\n\r\n")],
    ["a length that is none", sent(top, { path: "node_modules/a", size: -1 }, { end: true })],
    ["an end before the end", sent(top, { path: "node_modules/a", size: 50 }, "half")],
    ["no end", sent(top)],
    ["more than there is room for", sent(top, { path: "node_modules/a", size: 3 * 1024 ** 3 })],
    ["a file twice", sent(top, ...[1, 2].flatMap(() => [{ path: "node_modules/a", size: 1 }, "x"]), { end: true })],
    ["a folder in a file", sent(top, { path: "node_modules/a", size: 1 }, "x", { path: "node_modules/a/b" })]
  ])("are refused: %s", async (_, bytes) => {
    const { folder, result } = await taken(bytes)
    expect(Either.isLeft(result)).toBe(true)
    expect(existsSync(join(folder, "climbed")) || existsSync(join(folder, "../climbed"))).toBe(false)
  })

  it("have no names that mean another place", () => {
    const names = ["node_modules/a/..", "node_modules//a", "node_modules/./a", "node_modules/a\0", "..", "", "a"]
    expect(names.filter(isInside)).toEqual([])
    expect(["node_modules", "node_modules/@a/b/..c"].filter(isInside)).toHaveLength(2)
  })
})

describe("what is said of install scripts", () => {
  it("names the package that failed and its last words, without npm's", () => {
    const lines = [
      "",
      "> native@2.0.0 install",
      "> node-gyp rebuild",
      "",
      "gyp ERR! find Python",
      "npm error code 1",
      "npm error path /app/node_modules/@tools/native",
      "npm error command sh -c node-gyp rebuild"
    ]
    expect(scriptFailure(lines, "failed with exit code 1"))
      .toBe("the install script of @tools/native failed with exit code 1: gyp ERR! find Python")
    expect(scriptFailure([], "failed")).toBe("the install scripts failed and said nothing")
    expect(scriptFailure(["npm error code E"], "failed")).toBe("the install scripts failed: npm error code E")
  })

  it("tells how they are turned on, where there are some", () => {
    expect(aboutScripts([], false)).toEqual([])
    expect(aboutScripts(["a"], false).join()).toMatch(/not run; .*: a\. .*packageScripts: true/)
    expect(aboutScripts(Array.from({ length: 12 }, (_, at) => `p${at}`), true).join()).toMatch(/p9 and 2 more$/)
  })
})
