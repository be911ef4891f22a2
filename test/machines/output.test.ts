import { Effect, Fiber, Stream } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import { createHash, randomBytes } from "node:crypto"
import { readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs"
import * as http from "node:http"
import * as net from "node:net"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { temporaryDirectory } from "../support/Settings.ts"
import { type Driver, driverOf, exited, processOf, request, socketOf, specOf, until, up } from "./support.ts"
import { everyTierAtLength } from "./tiers.ts"

const node = (script: string) => ["node", "-e", script]

/** The keeper is the launcher's only child. */
const keeperOf = (driver: Driver, name: string) => {
  const { pid } = processOf(driver, name)
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim())
}

const residentMb = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024

everyTierAtLength("a machine's output", (tier) => {
  let driver: Driver
  beforeAll(() => {
    driver = driverOf(tier)
  })
  afterAll(() => driver.clear())

  it("comes line by line with its stream's name, and goes on from any offset", async () => {
    await driver.provision(
      specOf("lines", {}, node("console.log('a'); console.error('b'); setTimeout(() => console.log('c'), 100)"))
    )
    await driver.start("lines")
    const all = await driver.lines("lines", 3)
    expect([...all].map(({ stream, text }) => [stream, text]).sort()).toEqual([
      ["stderr", "b"],
      ["stdout", "a"],
      ["stdout", "c"]
    ])
    for (const [at, line] of all.entries()) {
      const rest = all.slice(at + 1)
      if (rest.length > 0) expect(await driver.lines("lines", rest.length, line.offset)).toEqual(rest)
    }
  })

  it("is followed while it is written, and ends when the machine is destroyed", async () => {
    await driver.provision(specOf("follow", {}, node("let n = 0; setInterval(() => console.log(n++), 50)")))
    await driver.start("follow")
    const seen: Array<string> = []
    const reading = driver.use((m) =>
      m.output("follow", 0).pipe(
        Stream.runForEach(({ text }) => Effect.sync(() => seen.push(text))),
        Effect.fork,
        Effect.flatMap(Fiber.join)
      )
    )
    await until(() => seen.length > 5 ? true : undefined)
    await driver.destroy("follow")
    await reading
    expect(seen.slice(0, 5)).toEqual(["0", "1", "2", "3", "4"])
  })

  it("keeps hostile bytes harmless: long lines cut, broken UTF-8 replaced, controls shown", async () => {
    const script = `const w = (b) => require("fs").writeSync(1, b)
      w("x".repeat(40000) + "\\n"); w(Buffer.from([0xff, 0x41, 0x0a])); w("nul\\0bell\\x07\\x1b[31mred\\x1b[0m\\ttab\\r\\n"); w("no newline")`
    await driver.provision(specOf("bytes", {}, node(script)))
    await driver.start("bytes")
    const lines = (await driver.lines("bytes", 6)).map(({ text }) => text)
    expect(lines.slice(0, 3).map((text) => text.length)).toEqual([16384, 16384, 40000 - 2 * 16384])
    expect(lines.slice(3)).toEqual(["\ufffdA", "nul\ufffdbell\ufffdred\ttab", "no newline"])
  })

  it("takes a bounded place on the disk, and says what it did not keep", async () => {
    await driver.provision(
      specOf(
        "endless",
        {},
        node("setInterval(() => { for (let i = 0; i < 500; i++) console.log('y'.repeat(200)) }, 10)")
      )
    )
    await driver.start("endless")
    const dir = join(driver.home, "machines/endless")
    // Files go while they are counted, which du calls an error.
    const size = () => Number(spawnSync("du", ["-sk", dir], { encoding: "utf8" }).stdout.split("\t")[0])
    await until(
      async () => (await driver.lines("endless", 1))[0]?.text.includes("were not kept") ? true : undefined,
      15
    )
    expect(size()).toBeLessThan(6 * 1024)
    const [note, next] = await driver.lines("endless", 2)
    expect(note?.text).toMatch(/^\[\d+ bytes of earlier output were not kept\]$/)
    expect(next?.text).toBe("y".repeat(200))
    await driver.destroy("endless")
  })

  it.skipIf(process.getuid?.() !== 0)("that a full disk takes is counted, and no line is torn", async () => {
    const home = temporaryDirectory("small")
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=32m", "tmpfs", home])
    const small = driverOf(tier, home)
    const fill = join(home, "fill")
    try {
      const script =
        "let n = 0; setInterval(() => { for (let i = 0; i < 20; i++) console.log(n++ + 'x'.repeat(300)) }, 50)"
      await small.provision(specOf("full", {}, node(script)))
      await small.start("full")
      await small.lines("full", 3)
      const { bavail, bsize } = statfsSync(home)
      writeFileSync(fill, Buffer.alloc((bavail - 10) * bsize))
      await new Promise((resolve) => setTimeout(resolve, 1500))
      rmSync(fill)
      const first = await small.lines("full", 1)
      const isNote = (text: string) => text.startsWith("[")
      const all = await until(async () => {
        const lines = await small.lines("full", 700, first[0]?.offset)
        return lines.some(({ text }) => isNote(text)) ? lines : undefined
      }, 20)
      const numbers = all.filter(({ text }) => !isNote(text)).map(({ text }) => Number(/^(\d+)x{300}$/.exec(text)?.[1]))
      expect(numbers.every((number, at) => at === 0 || number > numbers[at - 1]!)).toBe(true)
      const gap = numbers.at(-1)! - numbers[0]! - (numbers.length - 1)
      const counted = all.filter(({ text }) => isNote(text))
        .map(({ text }) =>
          Number(/^\[Lines of output lost because the platform's disk was full: (\d+)\]$/.exec(text)?.[1])
        )
      expect(counted.reduce((sum, count) => sum + count, 0)).toBe(gap)
      expect(gap).toBeGreaterThan(100)
    } finally {
      await small.clear()
      execFileSync("umount", ["-l", home])
    }
  })

  it("fails for a machine that is not there", async () => {
    await expect(driver.lines("nobody", 1)).rejects.toThrow("no such machine")
    await expect(driver.lines("../..", 1)).rejects.toThrow("no such machine")
  })
})

everyTierAtLength("the way to a machine", (tier) => {
  let driver: Driver
  beforeAll(() => {
    driver = driverOf(tier)
  })
  afterAll(() => driver.clear())

  it("carries large bodies both ways, whole", async () => {
    const state = await up(driver, specOf("large"))
    const body = randomBytes(32 * 1024 * 1024)
    const hash = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex")
    expect(hash(await request(state, "/echo", body))).toBe(hash(body))
  })

  it("keeps a half-closed connection open the other way", async () => {
    const script = `require("net").createServer({ allowHalfOpen: true }, (c) => { let n = 0
      c.on("data", (d) => n += d.length); c.on("end", () => setTimeout(() => c.end("got " + n), 100)) }).listen(process.env.PORT)`
    await driver.provision(specOf("half", {}, node(script)))
    const state = await driver.start("half")
    const ask = () =>
      new Promise<string>((resolve, reject) => {
        const socket = net.connect({ path: socketOf(state), allowHalfOpen: true })
        let said = ""
        socket.on("data", (part) => said += String(part))
        socket.on("end", () => resolve(said))
        socket.on("error", reject)
        socket.end("x".repeat(100_000))
      })
    expect(await until(async () => (await ask().catch(() => "")) || undefined)).toBe("got 100000")
  })

  it("reaches a server that listens on IPv6 loopback alone", async () => {
    const script = "require('http').createServer((q, s) => s.end('six')).listen(process.env.PORT, '::1')"
    await driver.provision(specOf("six", {}, node(script)))
    const state = await driver.start("six")
    expect(String(await until(() => request(state, "/").catch(() => undefined)))).toBe("six")
  })

  it("holds back a machine whose reader is slow, and stays small", async () => {
    const state = await up(driver, specOf("flood"))
    const answer = await new Promise<http.IncomingMessage>((resolve) =>
      http.get({ socketPath: socketOf(state), path: "/flood", agent: false }, resolve)
    )
    let received = 0
    answer.on("data", (part: Buffer) => received += part.length)
    await until(() => received > 50_000_000 ? true : undefined)
    answer.pause()
    await new Promise((resolve) => setTimeout(resolve, 1000))
    expect(residentMb(keeperOf(driver, "flood"))).toBeLessThan(110)
    answer.destroy()
  })

  it("carries many connections at once", async () => {
    const state = await up(driver, specOf("crowd"))
    const bodies = await Promise.all(Array.from({ length: 200 }, (_, i) => request(state, "/echo", `body ${i}`)))
    expect(bodies.map(String)).toEqual(Array.from({ length: 200 }, (_, i) => `body ${i}`))
  })

  it("is closed, and not merely silent, while nothing listens", async () => {
    await driver.provision(specOf("mute", {}, ["sleep", "60"]))
    const state = await driver.start("mute")
    const begin = Date.now()
    for (let i = 0; i < 5; i++) await expect(request(state, "/")).rejects.toThrow()
    expect(Date.now() - begin).toBeLessThan(2000)
    await driver.destroy("mute")
    await expect(exited(driver, "mute", 0.1)).rejects.toThrow()
  })
})
