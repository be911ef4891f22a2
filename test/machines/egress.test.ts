import { type MachineState } from "#src/machines/Machines.ts"
import { removeEmptyParent } from "#src/machines/sandbox/cgroups.ts"
import { chooseHost } from "#src/machines/sandbox/choose.ts"
import { etcDirectory } from "#src/machines/sandbox/inside.ts"
import * as lifecycle from "#src/machines/sandbox/lifecycle.ts"
import { machineSockets } from "#src/machines/sandbox/machine-sockets.ts"
import { egressSocketPath } from "#src/machines/sandbox/paths.ts"
import { Effect, Exit, Scope } from "effect"
import { execFileSync } from "node:child_process"
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { soak } from "../support/needs.ts"
import { testRootfs } from "../support/rootfs.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { about, type Driver, driverOf, run, specOf, up } from "./support.ts"
import { everyTier, everyTierAtLength, tiers } from "./tiers.ts"

/** A platform that allows these names and those which begin with "a"; a connection is told what it was opened for. */
const platform = (asked: Array<string>, allowed: ReadonlySet<string> = new Set()) => () =>
  createServer((socket) => {
    socket.on("error", () => undefined)
    socket.once("data", (bytes) => {
      const [line = ""] = String(bytes).split("\n")
      asked.push(line)
      const [verb, name = ""] = line.split(" ")
      if (verb === "connect" && name.startsWith("ahold")) return
      if (verb !== "lookup") return void socket.end(`for ${line}`)
      const isAllowed = name.startsWith("a") || allowed.has(name)
      socket.end(isAllowed ? "ports 443 5432\n" : name.startsWith("f") ? "failed\n" : "refused\n")
    })
  })

const node = async (state: MachineState, code: string) =>
  (await run(state, [
    "node",
    "-e",
    `(async () => {
    const text = JSON.stringify(await (async () => { ${code} })())
    process.stdout.write(text, () => process.exit())
  })()`
  ])).stdout

/** What one question gets as an answer: its code, how many answers, and the last four bytes. */
const ask = (state: MachineState, message: string, over: "udp4" | "udp6" | "tcp" = "udp4") =>
  node(
    state,
    `const m = Buffer.from(${JSON.stringify(message)}, "hex")
    const told = (b) => [b[3] & 15, b.readUInt16BE(6), [...b.subarray(-4)].join(".")]
    return new Promise((resolve) => {
      setTimeout(resolve, 1000, "nothing")
      if (${JSON.stringify(over)} === "tcp") {
        const s = require("net").connect(53, "127.0.0.1").on("error", (e) => resolve(e.code)).on("close", () => resolve("closed"))
        s.on("data", (b) => (resolve(told(b.subarray(2))), s.destroy()))
        const framed = Buffer.concat([Buffer.from([m.length >> 8, m.length & 255]), m])
        s.write(framed.subarray(0, 7)); setTimeout(() => s.write(framed.subarray(7)), 50)
      } else {
        const s = require("dgram").createSocket(${JSON.stringify(over)})
        s.on("message", (b) => (resolve(told(b)), s.close()))
        s.send(m, 53, ${JSON.stringify(over === "udp6" ? "::1" : "127.0.0.1")})
      }
    })`
  )

const hex = (name: string, type = 1) =>
  Buffer.concat([
    Buffer.from([1, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
    ...name.split(".").map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
    Buffer.from([0, 0, type, 0, 1])
  ]).toString("hex")

everyTier("the way out of a machine", (tier) => {
  const asked: Array<string> = []
  const allowed = new Set<string>()
  let driver: Driver
  let state: MachineState
  beforeAll(async () => {
    const variables = { AUTH_URL: "https://auth.example.com" }
    driver = driverOf(tier, temporaryDirectory("m"), variables, undefined, platform(asked, allowed))
    // As a user of the image without any privilege.
    const spec = specOf("out")
    state = await up(driver, { ...spec, config: { ...spec.config, user: "node" } })
  })
  afterAll(() => driver.clear())

  it("shows the platform's socket without the host's path while a connection is open", async () => {
    const list = await node(
      state,
      `const { promises: dns } = require("dns"), fs = require("fs"), net = require("net")
      const { address } = await dns.lookup("ahold.example.com")
      const open = net.connect(443, address)
      for (let i = 0; i < 100; i++) {
        const list = fs.readFileSync("/proc/net/unix", "utf8")
        if (list.includes(".e\\n")) return (open.destroy(), list)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }`
    )
    expect(list).toMatch(/ \/proc\/self\/fd\/\d+\/[0-9a-f]{16}\.e/)
    expect(list).not.toContain("/m/")
  })

  it("is DNS, over UDP and TCP: an address of its own for each allowed name, else no such name", async () => {
    for (const over of ["udp4", "udp6", "tcp"] as const) {
      expect(await ask(state, hex("API.example.com"), over), over).toMatch(/^\[0,1,"127\.81\.1\.\d+"\]$/)
      expect(await ask(state, hex("other.example.com"), over), over).toMatch(/^\[3,0,/)
    }
    expect(await ask(state, hex("api.example.com", 28))).toMatch(/^\[0,0,/)
    expect(await ask(state, hex("api.example.com", 65))).toMatch(/^\[0,0,/)
    expect(await ask(state, hex("fails.example.com"))).toMatch(/^\[2,0,/)
    expect(await ask(state, hex("auth.example.com"))).toBe("[0,1,\"127.0.0.1\"]")
    expect(await ask(state, hex("localhost"))).toBe("[0,1,\"127.0.0.1\"]")
    expect(await ask(state, hex("single"))).toMatch(/^\[3,0,/)
    const [first, again, second] = [
      await ask(state, hex("api.example.com")),
      await ask(state, hex("aPi.example.com")),
      await ask(state, hex("a2.example.com"))
    ]
    expect(again).toBe(first)
    expect(second).not.toBe(first)
  })

  it("asks the platform anew for each question, so that a change counts for the next one", async () => {
    const name = "changing.example.com"
    expect(await ask(state, hex(name))).toMatch(/^\[3,0,/)
    allowed.add(name)
    expect(await ask(state, hex(name))).toMatch(/^\[0,1,"127\.81\./)
    allowed.delete(name)
    expect(await ask(state, hex(name))).toMatch(/^\[3,0,/)
  })

  it("answers what is no question with an error, or not at all, and goes on", async () => {
    expect(await ask(state, "00")).toBe("\"nothing\"")
    expect(await ask(state, hex("api.example.com").replace(/^010201/, "010281"))).toBe("\"nothing\"")
    // A compressed name, a name without an end, no question, two questions.
    for (const broken of ["c00c00010001", "3f6161", "", hex("a.example.com").slice(24)]) {
      const count = broken === "" ? "0000" : broken.length > 12 ? "0002" : "0001"
      expect(await ask(state, `01020100${count}000000000000${broken}`), broken).toMatch(/^\[1,0,/)
    }
    expect(await ask(state, hex("a.b c.example"))).toMatch(/^\[3,0,/)
    expect(await ask(state, hex("api.example.com"))).toMatch(/^\[0,1,/)
  }, 20_000)

  it("listens on the allowed ports of an allowed name, and as the proxy that the variables name", async () => {
    const connect = (host: string, port: number) =>
      node(
        state,
        `return new Promise((resolve) => require("net").connect(${port}, "${host}").on("error", (e) => resolve(e.code))
          .on("data", (d) => resolve(String(d))).end("x"))`
      )
    expect(await connect("api.example.com", 443)).toBe("\"for connect api.example.com 443\"")
    expect(await connect("api.example.com", 5432)).toBe("\"for connect api.example.com 5432\"")
    expect(await connect("api.example.com", 80)).toBe("\"ECONNREFUSED\"")
    const { env } = await about(state)
    expect(env).toMatchObject({
      NODE_USE_ENV_PROXY: "1",
      no_proxy: expect.stringContaining("auth.example.com") as string
    })
    const { hostname, port } = new URL(env["https_proxy"] ?? "")
    expect(await connect(hostname, Number(port))).toBe("\"for proxy\"")
    expect((await run(state, ["cat", "/etc/resolv.conf"])).stdout).toBe("nameserver 127.0.0.1\n")
  })

  it("leaves a customer's own proxy variables alone, in either case", async () => {
    const env = { HTTPS_PROXY: "http://mine:1", no_proxy: "x" }
    const told = await about(await up(driver, specOf("proxied", { env })))
    expect(told.env).toMatchObject({ ...env, http_proxy: expect.any(String) as string })
    expect(told.env).not.toHaveProperty("https_proxy")
    expect(told.env).not.toHaveProperty("NO_PROXY")
  })

  it("holds a bounded number of connections, and is open again when they end", async () => {
    const flood = `const all = []; let refused = 0
      for (let i = 0; i < 200; i++) all.push(require("net").connect(443, "ahold.example.com").on("error", () => refused++))
      await new Promise((resolve) => setTimeout(resolve, 1500)); for (const s of all) s.destroy(); return refused`
    expect(Number(await node(state, flood))).toBeGreaterThan(50)
    expect(
      await node(
        state,
        `return new Promise((resolve) => require("net").connect(443, "api.example.com").on("error", (e) => resolve(e.code))
        .on("data", (d) => resolve(String(d))).end("x"))`
      )
    ).toContain("for connect")
  }, 20_000)
})

everyTierAtLength("names are looked up in images whose /etc", (tier) => {
  const clean: Array<() => Promise<void>> = []
  afterEach(async () => {
    for (const each of clean.splice(0)) await each()
  })

  const changes: ReadonlyArray<readonly [string, (rootfs: string) => void]> = [
    ["lacks resolv.conf", () => undefined],
    [
      "has a link there that leads nowhere",
      (rootfs) => symlinkSync("../run/stub.conf", join(rootfs, "etc/resolv.conf"))
    ],
    ["has a link there out of the image", (rootfs) => symlinkSync("/etc/resolv.conf", join(rootfs, "etc/resolv.conf"))],
    ["has another resolver", (rootfs) => writeFileSync(join(rootfs, "etc/resolv.conf"), "nameserver 192.0.2.1\n")],
    ["is a link within the image", (rootfs) => {
      mkdirSync(join(rootfs, "usr/etc"))
      execFileSync("cp", ["-a", `${join(rootfs, "etc")}/.`, join(rootfs, "usr/etc")])
      rmSync(join(rootfs, "etc"), { recursive: true })
      symlinkSync("usr/etc", join(rootfs, "etc"))
    }],
    ["is a link out of the image", (rootfs) => {
      rmSync(join(rootfs, "etc"), { recursive: true })
      symlinkSync("../../../../etc", join(rootfs, "etc"))
    }]
  ]
  // Over the tiers each image is there with and without a layer of the machine's own.
  const cases = changes.flatMap(([name, change], at) =>
    [true, false].filter((overlay) => soak || overlay === ((at + tiers.indexOf(tier)) % 2 === 0))
      .map((overlay) => [name, overlay, change] as const)
  )

  it.each(cases)("%s (own layer: %s)", async (_, overlay, change) => {
    const rootfs = join(temporaryDirectory("image"), "root")
    execFileSync("cp", ["-al", testRootfs(), rootfs])
    change(rootfs)
    const chosen = await Effect.runPromise(chooseHost(temporaryDirectory("m"), tier))
    const egress = machineSockets("way out", chosen.paths, egressSocketPath)
    const host = { ...chosen, overlay, egress }
    const scope = Effect.runSync(Scope.make())
    await Effect.runPromise(Scope.extend(egress.serve(platform([])), scope))
    clean.push(async () => {
      await Effect.runPromise(lifecycle.destroy(host, "etc"))
      await Effect.runPromise(Scope.close(scope, Exit.void))
      removeEmptyParent(host.paths.cgroup)
    })
    await Effect.runPromise(lifecycle.provision(host, specOf("etc", { rootfs })))
    const state = await Effect.runPromise(lifecycle.start(host, "etc"))
    await about(state)
    const found = await node(
      state,
      `return require("dns").promises.lookup("api.example.com").then((a) => a.address, (e) => e.code)`
    )
    expect(found).toMatch(/^"127\.81\.1\.\d+"$/)
    expect(await node(state, `return require("dns").promises.resolve4("api.example.com")`)).toMatch(/^\["127\.81\./)
    expect((await run(state, ["sh", "-c", "ls /etc/ && cat /etc/resolv.conf"])).stdout).toMatch(
      /hosts[^]*nameserver 127\.0\.0\.1\n$/
    )
  }, 30_000)
})

describe("where an image keeps /etc", () => {
  it("is followed once, and only within the image", () => {
    const rootfs = temporaryDirectory("etc")
    const link = (target: string) => {
      rmSync(join(rootfs, "etc"), { force: true })
      symlinkSync(target, join(rootfs, "etc"))
      return etcDirectory(rootfs)
    }
    expect(etcDirectory(rootfs)).toBe("etc")
    mkdirSync(join(rootfs, "usr/etc"), { recursive: true })
    symlinkSync("usr", join(rootfs, "links"))
    expect([link("usr/etc"), link("/usr/etc"), link("./usr/../usr/etc")]).toEqual(["usr/etc", "usr/etc", "usr/etc"])
    expect([link("links/etc"), link("etc")]).toEqual(["", ""])
    expect(link("../../../../usr/etc")).toBe("usr/etc")
  })
})
