import { OutsideNetwork } from "#src/egress/outside.ts"
import { Machines } from "#src/machines/Machines.ts"
import { internetPorts } from "#src/servers/egress-entry.ts"
import { Effect, Layer } from "effect"
import { type AddressInfo, createConnection, createServer, type Server as NetServer, type Socket } from "node:net"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { connect as connectTls } from "node:tls"
import { afterAll, afterEach, beforeAll, expect, it } from "vitest"
import { until } from "../machines/support.ts"
import { type Account, dataOf, type Server } from "../support/account.ts"
import { Berth } from "../support/Berth.ts"
import { describeWhen, itLong, missingProgram } from "../support/needs.ts"
import { withoutMachines } from "../support/no-machines.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { fakeOutside } from "./support.ts"

/** What a keeper says and hears at the platform's socket, without a machine behind it. */
describeWhen(missingProgram("openssl"), "the platform's end of the way out", () => {
  const berth = new Berth()
  const folder = temporaryDirectory("egress")
  let world: Awaited<ReturnType<typeof fakeOutside>>
  let makeServer: (machine: string) => NetServer
  let owner: Account
  let projectId: string
  const listeners: Array<NetServer> = []
  const sockets: Array<Socket> = []

  beforeAll(async () => {
    world = await fakeOutside()
    world.names.set("api.example.com", ["93.184.216.34"])
    world.names.set("own.example.com", ["198.51.99.7"])
    world.names.set("slow.example.com", "ETIMEOUT")
    for (const name of ["db.example.net", "lan.example.net"]) world.names.set(name, ["10.0.0.5"])
    const machines = Layer.succeed(Machines, {
      ...withoutMachines("the keeper is the test"),
      serveEgress: (make) => Effect.sync(() => void (makeServer = make)),
      // A machine is named after its server here.
      inspect: (name) =>
        Effect.succeed({ name, owner: name, status: "running", address: { _tag: "Unix", path: "" }, exitCode: null })
    })
    const variables = { EGRESS_PRIVATE_HOSTS: "db.example.net:5432" }
    await berth.start({ machines, outside: world.outside, variables })
    owner = await berth.signUp("enterprise")
    projectId = (await owner.project()).id
  })
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy()
    for (const listener of listeners.splice(0)) listener.close()
  })
  afterAll(async () => {
    await berth.stop()
    world.close()
  })

  /** A new server with that setting, and a way to its machine's socket. */
  const machineOf = async (egress?: unknown) => {
    const server = await owner.server(projectId, egress === undefined ? {} : { egress })
    const path = join(folder, `${listeners.length}-${server.id.slice(-6)}`)
    const listener = makeServer(server.id)
    listeners.push(listener)
    await new Promise<void>((resolve) => listener.listen(path, resolve))
    const open = (line: string) => {
      const socket = createConnection({ path, allowHalfOpen: true })
      socket.on("error", () => undefined)
      socket.write(line)
      sockets.push(socket)
      return socket
    }
    return {
      server,
      open,
      ask: (line: string) => text(open(line)),
      lookup: (name: string) => text(open(`lookup ${name}\n`)).then((answer) => answer.trim())
    }
  }
  const patch = (server: Server, body: unknown) => owner.request("PATCH", `/v1/servers/${server.id}`, { body })
  const logOf = async ({ id }: Server) =>
    dataOf(
      await owner.get<{ data: { items: ReadonlyArray<{ message: string; level: string }> } }>(
        `/v1/servers/${id}/logs?limit=200`
      )
    ).items
  const get = (host: string) => `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`

  it("tells at which ports a name is open: refused, unknown and failing names apart", async () => {
    const { lookup } = await machineOf({ allow: ["api.example.com", "api.example.com:5432", "*.example.com:8443"] })
    expect(await lookup("api.example.com")).toBe("ports 443 80 5432 8443")
    expect(await lookup("own.example.com")).toBe("refused")
    expect(await lookup("gone.example.com")).toBe("refused")
    expect(await lookup("slow.example.com")).toBe("failed")
    for (const name of ["example.com", "other.org", "127.0.0.1", "localhost", "", "a b", "\0"]) {
      expect(await lookup(name), name).toBe("refused")
    }
    expect((await machineOf()).server).toMatchObject({ egress: "none" })
    expect(await (await machineOf()).lookup("api.example.com")).toBe("refused")
  })

  it("reaches the host itself by a public name at its public door only", async () => {
    const { ask, lookup, open } = await machineOf("internet")
    expect(await lookup("own.example.com")).toBe("ports 443 80")
    expect(await ask("proxy\nCONNECT own.example.com:5432 HTTP/1.1\r\n\r\n")).toMatch(/^HTTP\/1.1 403/)
    expect(await lookup("api.example.com")).toBe(`ports ${internetPorts.join(" ")}`)
    const elsewhere = open("proxy\nCONNECT api.example.com:5432 HTTP/1.1\r\n\r\n")
    expect(String(await new Promise((resolve) => elsewhere.once("data", resolve)))).toMatch(/^HTTP\/1.1 200/)
  })

  it("carries a request and the end of both sides", async () => {
    const { ask, open } = await machineOf({ allow: ["api.example.com", "api.example.com:7"] })
    expect(await ask(`connect api.example.com 80\n${get("API.example.com:80")}`)).toMatch(/200 OK[^]*API\.example\.com/)
    const echo = open("connect api.example.com 7\none ")
    echo.end("two")
    expect(await text(echo)).toBe("hello\none two")
    const socket = open("connect api.example.com 443\n")
    const secured = connectTls({ socket, servername: "api.example.com", ca: world.authority })
    secured.end(get("api.example.com"))
    expect(await text(secured)).toMatch(/api\.example\.com over TLS/)
  })

  it("has a byoa server's issuer and keys, whatever its setting", async () => {
    world.names.set("login.example.net", ["93.184.216.35"])
    const { lookup, server } = await machineOf()
    expect(await lookup("login.example.net")).toBe("refused")
    const issuer = "https://login.example.net:8443"
    const endpoints = { authorizationEndpoint: `${issuer}/a`, tokenEndpoint: `${issuer}/t` }
    const changed = await owner.put(`/v1/servers/${server.id}/auth`, {
      authMode: "byoa",
      byoaConfig: { issuer: "https://login.example.net", jwksUri: `${issuer}/jwks`, ...endpoints }
    })
    expect(changed.status).toBe(200)
    await until(async () => await lookup("login.example.net") === "ports 443 8443 80" || undefined)
    await patch(server, { egress: { allow: ["api.example.com"] } })
    await until(async () => await lookup("api.example.com") === "ports 443 80" || undefined)
    expect(await lookup("login.example.net")).toBe("ports 443 8443 80")
  })

  it("closes what is open to a host that is no longer allowed", async () => {
    const { open, server } = await machineOf({ allow: ["api.example.com:7"] })
    const socket = open("connect api.example.com 7\n")
    await new Promise((resolve) => socket.once("data", resolve))
    const closed = new Promise((resolve) => socket.once("close", () => resolve(true)))
    expect((await patch(server, { egress: "none" })).status).toBe(200)
    await until(() => {
      berth.hurry(10_000)
      return socket.destroyed || socket.readableEnded ? true : undefined
    })
    socket.destroy()
    expect(await closed).toBe(true)
  })

  it("says of each refused host once in ten minutes what allows it, and of no more than fifty", async () => {
    const { lookup, server } = await machineOf({ allow: ["api.example.com"] })
    for (let i = 0; i < 3; i++) await lookup("new.example.com")
    const lines = await until(async () => {
      const found = await logOf(server)
      return found.length > 0 ? found : undefined
    })
    const command = JSON.stringify({
      serverId: server.id,
      egress: { add: ["new.example.com"] }
    })
    expect(lines).toEqual([expect.objectContaining({
      level: "warn",
      message: "new.example.com was refused: this server's egress does not allow it. To allow it: " +
        `npx berth call ${berth.url}/mcp update_server --input '${command}'`
    })])
    berth.advance(11 * 60_000)
    await lookup("new.example.com")
    await until(async () => (await logOf(server)).length === 2 || undefined)
    for (let i = 0; i < 80; i++) await lookup(`n${i}.example.com`)
    await until(async () => (await logOf(server)).length >= 52 || undefined)
    const all = await logOf(server)
    expect(all).toHaveLength(52)
    expect(all[0]?.message).toMatch(/more hosts than are told of here/)
  }, 20_000)

  it("tells of a refused web port of an allowed host, with the command that allows it", async () => {
    const { ask, lookup, open, server } = await machineOf({ allow: ["api.example.com:443", "api.example.com:7"] })
    // The keeper listens where it may tell the platform of a connection.
    expect(await lookup("api.example.com")).toBe("ports 443 7 80")
    expect(await ask(`connect api.example.com 80\n${get("api.example.com")}`)).toMatch(
      /^HTTP\/1.1 403 [^]*egress does not allow/
    )
    expect(await ask("proxy\nCONNECT api.example.com:22 HTTP/1.1\r\n\r\n")).toMatch(/^HTTP\/1.1 403 /)
    const lines = await until(async () => {
      const found = (await logOf(server)).map(({ message }) => message)
      return found.length > 1 ? found : undefined
    })
    expect(lines.map((line) => /^(\S+) was refused: .*"egress":(.*)\}'$/.exec(line)?.slice(1)).sort()).toEqual([
      ["api.example.com:22", "{\"add\":[\"api.example.com:22\"]}"],
      ["api.example.com:80", "{\"add\":[\"api.example.com\"]}"]
    ])
    await patch(server, { egress: { add: ["api.example.com"] } })
    await until(async () => {
      const socket = open(`connect api.example.com 80\n${get("api.example.com")}`)
      return /200 OK/.test(await text(socket)) || undefined
    })
  }, 20_000)

  it("says it again after the server's egress changed, and its commands may be followed in any order", async () => {
    const { lookup, server } = await machineOf()
    const linesOf = async (count: number) =>
      until(async () => {
        const found = (await logOf(server)).map(({ message }) => message)
        return found.length >= count ? found : undefined
      })
    await lookup("one.example.com")
    await lookup("two.example.com")
    const commands = (await linesOf(2)).map((message) => /--input '(.*)'$/.exec(message)?.[1] ?? "")
    for (const command of commands) {
      const { egress } = JSON.parse(command) as { egress: unknown }
      expect((await patch(server, { egress })).status).toBe(200)
    }
    const { body } = await owner.get<{ data: { egress: { allow: ReadonlyArray<string> } } }>(`/v1/servers/${server.id}`)
    expect([...body.data.egress.allow].sort()).toEqual(["one.example.com", "two.example.com"])
    await patch(server, { egress: { allow: ["one.example.com"] } })
    await until(async () => {
      await lookup("two.example.com")
      return (await logOf(server)).length === 3 || undefined
    })
  }, 20_000)

  it(
    "says it again after a change that was taken back, of a name that is not allowed and of a private one",
    async () => {
      const first = { allow: ["lan.example.net"] }
      const { lookup, server } = await machineOf(first)
      const refused = async (count: number) => {
        for (const name of ["api.example.com", "lan.example.net"]) expect(await lookup(name)).toBe("refused")
        const lines = await until(async () => {
          const found = await logOf(server)
          return found.length >= count ? found : undefined
        })
        expect(lines).toHaveLength(count)
      }
      await refused(2)
      await refused(2)
      await patch(server, { egress: { add: ["api.example.com"] } })
      // Whoever has the answer may ask at once.
      expect(await lookup("api.example.com")).toBe("ports 443 80")
      await patch(server, { egress: first })
      await refused(4)
    },
    20_000
  )

  it.each<readonly [unknown, string, RegExp]>([
    ["internet", "db.example.net", /"internet" has no such hosts\. An allow-list that names db\.example\.net:5432/],
    [{ allow: ["db.example.net"] }, "db.example.net", /lets machines reach it as db\.example\.net:5432 alone$/],
    [{ allow: ["lan.example.net"] }, "lan.example.net", /Only the operator .*\(EGRESS_PRIVATE_HOSTS\)$/]
  ])("says with %j why the private %s is refused, and what would open it", async (egress, name, words) => {
    const { lookup, server } = await machineOf(egress)
    expect(await lookup(name)).toBe("refused")
    const [line] = await until(async () => {
      const found = await logOf(server)
      return found.length > 0 ? found : undefined
    })
    expect(line?.message).toMatch(words)
  })

  it("offers no command for an address that no setting allows, and says so to the program", async () => {
    const { ask, server } = await machineOf({ allow: ["api.example.com", "nowhere.example.com"] })
    for (const host of ["169.254.169.254", "[::ffff:127.0.0.1]"]) {
      expect(await ask(`proxy\nCONNECT ${host}:80 HTTP/1.1\r\n\r\n`)).toMatch(
        /^HTTP\/1.1 403 [^]*its address is private, local or reserved\n$/
      )
    }
    expect(await ask("proxy\nCONNECT nowhere.example.com:443 HTTP/1.1\r\n\r\n")).toMatch(
      /^HTTP\/1.1 502 [^]*its name has no address\n$/
    )
    const lines = await until(async () => {
      const found = await logOf(server)
      return found.length > 1 ? found : undefined
    })
    expect(lines.map(({ message }) => message).sort()).toEqual(
      ["169.254.169.254", "::ffff:127.0.0.1"].map((host) =>
        `${host} was refused: it is a private, local or reserved address, and no egress setting allows one`
      )
    )
  })

  it("takes no hostile text into a log line that would be a command", async () => {
    const { open, server } = await machineOf({ allow: ["api.example.com"] })
    const host = "'; rm -rf / #.example.com"
    await text(open(`connect api.example.com 80\n${get(host)}`))
    const socket = open("connect api.example.com 443\n")
    const secured = connectTls({ socket, servername: "';id>x;'.example.com" }).on("error", () => undefined)
    await new Promise((resolve) => secured.once("close", resolve))
    const lines = await until(async () => {
      const found = await logOf(server)
      return found.length > 1 ? found : undefined
    })
    for (const { message } of lines) {
      expect(message).toMatch(/^The way out to api\.example\.com:\d+ failed: [\w ,(.)]+$/)
    }
  })

  it("is not held up by what never comes to a point", async () => {
    const { ask } = await machineOf({ allow: ["api.example.com", "api.example.com:9"] })
    const before = world.connections.length
    expect(await ask(`${"x".repeat(1_000)}`)).toBe("")
    expect(await ask("nonsense\n")).toBe("")
    expect(await ask(`connect api.example.com 80\nGET / HTTP/1.1\r\nx: ${"y".repeat(20_000)}`)).toMatch(
      /^HTTP\/1.1 403/
    )
    expect(await ask("connect api.example.com 443\nGET / HTTP/1.1\r\n\r\n")).toBe("\x15\x03\x03\0\x02\x02\x31")
    expect(await ask("connect api.example.com 443\n\x16\x03\x01\x40\0\x01\xff\xff\xff")).not.toBe("")
    expect(await ask(`proxy\nCONNECT ${"a".repeat(300)}.com:443 HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1.1 400/)
    expect(world.connections).toHaveLength(before)
  })

  itLong("gives up on a client that says nothing, or a byte a second", async () => {
    const { open } = await machineOf({ allow: ["api.example.com"] })
    const started = Date.now()
    const silent = open("")
    const slow = open("connect api.example.com 443\n")
    const hello = Buffer.from([22, 3, 1, 1, 0x90, 1, 0, 1, 0x8c, ...Array.from({ length: 100 }, () => 3)])
    let at = 0
    const timer = setInterval(() => slow.write(hello.subarray(at, ++at)), 500)
    await Promise.all([text(silent), text(slow).catch(() => "")])
    clearInterval(timer)
    expect(Date.now() - started).toBeLessThan(25_000)
  }, 40_000)

  it("lets one machine open a bounded number of connections, and another its own", async () => {
    const busy = await machineOf({ allow: ["api.example.com:7"] })
    const held = Array.from({ length: 300 }, () => busy.open("connect api.example.com 7\n"))
    await until(() =>
      held.filter(({ destroyed, readableEnded }) => destroyed || readableEnded).length >= 40 || undefined
    )
    expect(await (await machineOf({ allow: ["api.example.com"] })).lookup("api.example.com")).toBe("ports 443 80")
  }, 20_000)
})

it("a connection goes to an address that was checked, and its name is not looked up again", async () => {
  const server = createServer((socket) => socket.end("here")).listen(0, "127.0.0.1")
  await new Promise((resolve) => server.once("listening", resolve))
  const { connect } = Effect.runSync(OutsideNetwork)
  const { port } = server.address() as AddressInfo
  expect(await text(connect(["127.0.0.1"], port))).toBe("here")
  expect(await text(connect(["::ffff:127.0.0.1", "127.0.0.1"], port))).toBe("here")
  server.close()
})
