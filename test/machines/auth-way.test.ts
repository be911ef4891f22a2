import { asMachineAddress, machineAddress } from "#src/machines/machine-address.ts"
import { type MachineState } from "#src/machines/Machines.ts"
import { insideAddress } from "#src/machines/sandbox/auth-way.ts"
import { FastCheck } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import { type AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { freePort } from "../support/http.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { type Driver, driverOf, run, specOf, up } from "./support.ts"
import { everyTierAtLength } from "./tiers.ts"

it("the way out is for AUTH_URL by name or loopback, on its port", () => {
  expect(insideAddress("https://auth.example.com")).toEqual({ name: "auth.example.com", port: 443 })
  expect(insideAddress("http://localhost:8787")).toEqual({ name: "", port: 8787 })
  expect(insideAddress("http://[::1]:1")).toEqual({ name: "", port: 1 })
  for (const url of ["https://192.0.2.1", "https://[2001:db8::1]"]) expect(insideAddress(url)).toBeUndefined()
})

describe("a machine's own address", () => {
  it("is the same for the same name, and no two machines have one", () => {
    FastCheck.assert(FastCheck.property(FastCheck.uniqueArray(FastCheck.string(), { minLength: 1 }), (names) => {
      const taken = new Set<string>()
      for (const name of names) {
        const address = machineAddress(name, (other) => taken.has(other))
        expect(taken).not.toContain(address)
        expect(asMachineAddress(address)).toBe(address)
        taken.add(address)
      }
      const [first = ""] = names
      expect(machineAddress(first, () => false)).toBe(machineAddress(first, () => false))
    }))
  })

  it("is known in the form that IPv6 sockets give it, and no other address is taken for one", () => {
    expect(asMachineAddress("::ffff:127.66.1.2")).toBe("127.66.1.2")
    const others = ["127.0.0.1", "127.660.1.2", "1127.66.1.2", "127.66.1", "127.66.1.2.3", "x127.66.1.2", "::1", ""]
    for (const address of others) expect(asMachineAddress(address)).toBeUndefined()
  })
})

/** An HTTP server that says who answers, and what it got. */
const saying = (name: string) =>
  createServer((req, res) => void text(req).then((body) => res.end(`${name} got ${body}`)))

const listening = async (name: string) => {
  const server = saying(name).listen(0, "localhost")
  await once(server, "listening")
  return { server, port: (server.address() as AddressInfo).port }
}

/** Prints what a POST to the URL is answered, or the code of its failure. */
const ask = async (state: MachineState, url: string, body = "a token") => {
  const script = `fetch(process.argv[1], { method: "POST", body: process.argv[2] }).then((r) => r.text())
    .catch((error) => error.cause?.code ?? String(error)).then((said) => process.stdout.write(said))`
  return (await run(state, ["node", "-e", script, url, body])).stdout
}

everyTierAtLength("a machine and the authorization server", (tier) => {
  const home = temporaryDirectory("m")
  let driver: Driver
  let state: MachineState
  let port: number
  let other: Awaited<ReturnType<typeof listening>>
  const start = () =>
    driverOf(tier, home, { AUTH_URL: `http://localhost:${port}` }, (machine) => saying(`${machine}'s`))

  beforeAll(async () => {
    port = await freePort()
    other = await listening("other")
    driver = start()
    state = await up(driver, specOf("asking"))
  })
  afterAll(async () => {
    await driver.clear()
    other.server.close().closeAllConnections()
  })

  it("meet at AUTH_URL, and the rest of the host stays out of reach", async () => {
    const large = "x".repeat(100_000)
    expect(await ask(state, `http://localhost:${port}/api`, large)).toBe(`asking's got ${large}`)
    expect(await ask(state, `http://127.0.0.1:${other.port}/`)).toBe("ECONNREFUSED")
    expect(await ask(state, `http://localhost:${other.port}/`)).toBe("ECONNREFUSED")
  })

  it("meet each at a server of its own", async () => {
    const second = await up(driver, specOf("second"))
    expect(await ask(second, `http://localhost:${port}/`)).toBe("second's got a token")
    expect(await ask(state, `http://localhost:${port}/`)).toBe("asking's got a token")
    await driver.destroy("second")
  })

  it("meet again after a restart of the platform that the machine outlived", async () => {
    await driver.close()
    expect(await ask(state, `http://localhost:${port}/`)).not.toContain(" got ")
    driver = start()
    await driver.info()
    expect(await ask(state, `http://localhost:${port}/`)).toBe("asking's got a token")
  })

  it("that has a name is found by it", async () => {
    const named = driverOf(tier, temporaryDirectory("m"), { AUTH_URL: "https://auth.example.com" })
    const there = await up(named, specOf("named"))
    const { stdout } = await run(there, ["cat", "/etc/hosts"])
    expect(stdout).toMatch(/^127\.0\.0\.1 auth\.example\.com$/m)
    expect(stdout).toMatch(/localhost/)
    // No host of ours: what machines ask there can't be told from what others do.
    const { enforces, lacks } = await named.info()
    expect(enforces).toContainEqual(
      expect.stringMatching(/egress to hosts that its server allows .* and to AUTH_URL: all of it/)
    )
    expect(lacks).toContainEqual(expect.stringMatching(/a filter on the way to AUTH_URL/))
    await named.clear()
  })
})
