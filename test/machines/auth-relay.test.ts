import { type MachineState } from "#src/machines/Machines.ts"
import { authRelayFor } from "#src/machines/sandbox/auth-relay.ts"
import { once } from "node:events"
import { createServer } from "node:http"
import { type AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { afterAll, beforeAll, expect, it } from "vitest"
import { temporaryDirectory } from "../support/Settings.ts"
import { type Driver, driverOf, run, specOf, up } from "./support.ts"
import { everyTier } from "./tiers.ts"

it("the way out is for AUTH_URL by name or loopback, on its port", () => {
  expect(authRelayFor("https://auth.example.com", "s")).toEqual({ name: "auth.example.com", port: 443, socket: "s" })
  expect(authRelayFor("http://localhost:8787", "s")).toEqual({ name: "", port: 8787, socket: "s" })
  expect(authRelayFor("http://[::1]:1", "s")).toEqual({ name: "", port: 1, socket: "s" })
  for (const url of ["https://192.0.2.1", "https://[2001:db8::1]"]) expect(authRelayFor(url, "s")).toBeUndefined()
})

const listening = async (name: string) => {
  const server = createServer((req, res) => void text(req).then((body) => res.end(`${name} got ${body}`)))
  server.listen(0, "localhost")
  await once(server, "listening")
  return { server, port: (server.address() as AddressInfo).port }
}

/** Prints what a POST to the URL is answered, or the code of its failure. */
const ask = async (state: MachineState, url: string, body = "a token") => {
  const script = `fetch(process.argv[1], { method: "POST", body: process.argv[2] }).then((r) => r.text())
    .catch((error) => error.cause?.code ?? String(error)).then((said) => process.stdout.write(said))`
  return (await run(state, ["node", "-e", script, url, body])).stdout
}

everyTier("a machine and the authorization server", (tier) => {
  const home = temporaryDirectory("m")
  let driver: Driver
  let state: MachineState
  let auth: Awaited<ReturnType<typeof listening>>
  let other: Awaited<ReturnType<typeof listening>>
  const variables = () => ({ AUTH_URL: `http://localhost:${auth.port}` })

  beforeAll(async () => {
    auth = await listening("auth")
    other = await listening("other")
    driver = driverOf(tier, home, variables())
    state = await up(driver, specOf("asking"))
  })
  afterAll(async () => {
    await driver.clear()
    for (const { server } of [auth, other]) server.close().closeAllConnections()
  })

  it("meet at AUTH_URL, and the rest of the host stays out of reach", async () => {
    const large = "x".repeat(100_000)
    expect(await ask(state, `http://localhost:${auth.port}/api`, large)).toBe(`auth got ${large}`)
    expect(await ask(state, `http://127.0.0.1:${other.port}/`)).toBe("ECONNREFUSED")
    expect(await ask(state, `http://localhost:${other.port}/`)).toBe("ECONNREFUSED")
  })

  it("meet again after a restart of the platform that the machine outlived", async () => {
    await driver.close()
    expect(await ask(state, `http://localhost:${auth.port}/`)).not.toContain("auth got")
    driver = driverOf(tier, home, variables())
    await driver.info()
    expect(await ask(state, `http://localhost:${auth.port}/`)).toBe("auth got a token")
  })

  it("that has a name is found by it", async () => {
    const named = driverOf(tier, temporaryDirectory("m"), { AUTH_URL: "https://auth.example.com" })
    const there = await up(named, specOf("named"))
    const { stdout } = await run(there, ["cat", "/etc/hosts"])
    expect(stdout).toMatch(/^127\.0\.0\.1 auth\.example\.com$/m)
    expect(stdout).toMatch(/localhost/)
    await named.clear()
  })
})
