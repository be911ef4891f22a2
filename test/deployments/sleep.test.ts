import { MachineStatesLive } from "#src/machines/Machines.ts"
import { Layer } from "effect"
import { type IncomingMessage } from "node:http"
import { connect } from "node:net"
import { buffer } from "node:stream/consumers"
import { afterAll, beforeEach, describe, expect, it } from "vitest"
import { type Berth, useBerth } from "../support/Berth.ts"
import { send } from "../support/http.ts"
import { secretKey } from "../support/mint.ts"
import { runSql } from "../support/sql.ts"
import { healthy, StartableMachines } from "../support/startable-machines.ts"
import { secondGateway } from "./support/second-gateway.ts"
import { hurry, type Sleeper, sleeper } from "./support/sleeper.ts"

const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** Requests of the month, once all have been told. */
const counted = async (berth: Berth, { owner }: Sleeper) => {
  berth.hurry(3_000)
  await pause(200)
  const { body } = await owner.get<{ data: { usage: { requestCount: number } } }>("/v1/billing")
  return body.data.usage.requestCount
}

describe("a server that nobody uses", () => {
  const machines = new StartableMachines()
  const berth = useBerth({ machines: machines.layer, variables: secretKey })
  const sql = (statement: string, ...values: ReadonlyArray<unknown>) => runSql(berth.databaseUrl, statement, values)
  beforeEach(() => void (machines.conduct = { delay: 0, listener: healthy }))
  afterAll(machines.clear)

  it("falls asleep, says so, and wakes by the next request", async () => {
    const one = await sleeper(berth, machines)
    expect((await one.ask()).status).toBe(200)
    await one.fallAsleep()
    expect(await one.read()).toMatchObject({ status: "stopped", asleep: true })
    expect(await one.messages()).toContain("Idle for 60 seconds: asleep until the next request")
    machines.conduct = { delay: 100, listener: healthy }
    expect((await one.ask()).body).toEqual({ ok: true })
    expect(await one.read()).toMatchObject({ status: "running", asleep: false })
    expect(await one.messages()).toMatch(/Woken: healthy after 0\.\d+ s/)
    expect(machines.starts).toEqual([one.machine])
  })

  it("answers for the sessions of before that they are gone, once it is awake, and counts no such request", async () => {
    const one = await sleeper(berth, machines)
    const session = { headers: { "mcp-session-id": "of-the-machine~v1" } }
    expect((await one.ask("/", session)).status).toBe(200)
    await one.fallAsleep()
    const before = await counted(berth, one)
    const gone = await one.ask("/", session)
    expect([gone.status, gone.body]).toEqual([
      404,
      expect.objectContaining({ error: expect.objectContaining({ code: -32001 }) })
    ])
    expect(await one.read()).toMatchObject({ status: "running", asleep: false })
    expect((await one.ask("/", session)).status).toBe(404)
    expect((await one.ask("/", { headers: { "mcp-session-id": "of-the-machine~v1.2" } })).status).toBe(200)
    expect(await counted(berth, one)).toBe(before + 1)
  })

  it("is started once for 200 requests at a time, and each is answered", async () => {
    const one = await sleeper(berth, machines)
    await one.fallAsleep()
    machines.conduct = { delay: 300, listener: healthy }
    const answers = await Promise.all(Array.from({ length: 200 }, () => one.ask()))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(machines.starts.filter((name) => name === one.machine)).toHaveLength(1)
  })

  it("is started once for requests that come to two gateways, which share a database alone", async () => {
    const one = await sleeper(berth, machines)
    const { stop, url } = await secondGateway(berth, Layer.provide(MachineStatesLive, machines.layer), {
      TRUST_PROXY: "1",
      ...secretKey
    })
    const there = () => send(url, "GET", `/s/${one.server.slug}/`, { token: one.token })
    expect((await there()).status).toBe(200)
    await one.fallAsleep()
    machines.conduct = { delay: 300, listener: healthy }
    const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => i % 2 === 0 ? one.ask() : there()))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(machines.starts.filter((name) => name === one.machine)).toHaveLength(1)
    await one.fallAsleep()
    expect((await there()).status, "by the other one alone").toBe(200)
    await stop()
  })

  it("keeps 256 requests waiting and no more", async () => {
    const one = await sleeper(berth, machines)
    await one.fallAsleep()
    let release = () => {}
    const until = new Promise<void>((resolve) => release = resolve)
    machines.conduct = { delay: 0, until, listener: healthy }
    const crowded: Array<Awaited<ReturnType<typeof one.ask>>> = []
    const answers = Promise.all(
      Array.from(
        { length: 300 },
        () => one.ask().then((answer) => (answer.status === 503 && crowded.push(answer), answer))
      )
    )
    await expect.poll(() => crowded.length, { timeout: 20_000 }).toBe(44)
    release()
    expect((await answers).filter(({ status }) => status === 200)).toHaveLength(256)
    expect(crowded[0]?.body).toMatchObject({ error: { message: expect.stringContaining("too many requests wait") } })
    expect(crowded[0]?.headers.get("retry-after")).toBe("2")
  }, 40_000)

  it("gets a body that was sent while it slept, whole, and reads none before it is awake", async () => {
    const one = await sleeper(berth, machines)
    await one.fallAsleep()
    const received: Array<Buffer> = []
    machines.conduct = {
      delay: 500,
      listener: (req: IncomingMessage, res) =>
        void buffer(req).then((body) => {
          if (body.length > 0) received.push(body)
          res.writeHead(200, { "content-type": "application/json" }).end("{}")
        })
    }
    const sent = Buffer.alloc(8_000_000, "m")
    const { hostname, port } = new URL(berth.url)
    const socket = connect(Number(port), hostname)
    const head = `POST /s/${one.server.slug}/ HTTP/1.1\r\nHost: b\r\nAuthorization: Bearer ${one.token}\r\n` +
      `Content-Length: ${sent.length}\r\nConnection: close\r\n\r\n`
    let isSent = false
    socket.write(head)
    socket.write(sent, () => isSent = true)
    await pause(300)
    expect(isSent, "the rest waits in the client").toBe(false)
    expect((await buffer(socket)).toString()).toMatch(/^HTTP\/1\.1 200/)
    expect(received.map(({ length }) => length)).toEqual([sent.length])
    expect(received[0]?.equals(sent)).toBe(true)
  })

  /** A stream that its machine ends when it is told so, and what its client has heard. */
  const listening = async (one: Sleeper, path = "/stream") => {
    const abort = new AbortController()
    const { body } = await fetch(`${berth.url}/s/${one.server.slug}${path}`, {
      headers: { authorization: `Bearer ${one.token}`, accept: "text/event-stream" },
      signal: abort.signal
    })
    const heard = { text: "", isEnded: false, leave: () => abort.abort() }
    void (async () => {
      for await (const part of body!) heard.text += Buffer.from(part).toString()
    })().catch(() => undefined).finally(() => heard.isEnded = true)
    return heard
  }
  /** Both transports' streams; `say` is the newest one's. */
  const streams = () => {
    let say = (_: string): unknown => undefined
    machines.conduct = {
      delay: 0,
      listener: (req, res) => {
        if (!["/stream", "/sse", "/mcp"].includes(req.url ?? "")) return healthy(req, res)
        res.writeHead(200, { "content-type": "text/event-stream" })
        res.write(req.url === "/sse" ? "event: endpoint\ndata: /message?sessionId=1\n\n" : "data: 1\n\n")
        say = (text) => res.write(text)
      }
    }
    return (text: string) => say(text)
  }
  const passTime = async (one: Sleeper, before: () => unknown = () => undefined) => {
    berth.advance(31_000)
    for (let i = 0; i < 3; i++) {
      await one.age()
      before()
      await pause(50)
      hurry(berth)
      await pause(100)
    }
  }

  it("stays awake while a call is under way, and while something is said on a stream", async () => {
    const say = streams()
    const one = await sleeper(berth, machines)
    const stream = await listening(one)
    await passTime(one, () => say(": nothing, and then\n\ndata: 2\n\n"))
    expect(await one.read()).toMatchObject({ status: "running", asleep: false })
    stream.leave()
    const abort = new AbortController()
    const call = await fetch(`${berth.url}/s/${one.server.slug}/mcp`, {
      method: "POST",
      headers: { authorization: `Bearer ${one.token}` },
      body: "{}",
      signal: abort.signal
    })
    await passTime(one)
    expect(await one.read()).toMatchObject({ status: "running", asleep: false })
    abort.abort()
    await call.text().catch(() => undefined)
    await one.fallAsleep()
  })

  it("sleeps under a stream on which nothing is said; the client's stays open until the next call wakes it", async () => {
    const say = streams()
    const one = await sleeper(berth, machines)
    const [stream, older] = [await listening(one), await listening(one, "/sse")]
    await expect.poll(() => [stream.text, older.text.length > 0]).toEqual([
      expect.stringMatching(/^data: 1\n\n:\n\n/),
      true
    ])
    say(": the machine's comments are no use of it\n\n")
    await one.fallAsleep()
    await pause(300)
    expect([stream.isEnded, older.isEnded]).toEqual([false, false])
    const [, endpoint] = /data: (\S+)/.exec(older.text) ?? []
    const gone = await one.ask("/", { headers: { "mcp-session-id": "of-the-machine~v1" } })
    expect([gone.status, gone.body]).toEqual([
      404,
      expect.objectContaining({ error: expect.objectContaining({ code: -32001 }) })
    ])
    expect(await one.read()).toMatchObject({ status: "running", asleep: false })
    // As its session: a client that finds it ended opens a new one.
    await expect.poll(() => [stream.isEnded, older.isEnded]).toEqual([true, true])
    expect((await berth.request("POST", endpoint!, { token: one.token })).status).toBe(404)
    expect(stream.text).not.toContain("interrupted")
  })

  it("leaves no stream open that it kept when it is stopped by hand, or deleted", async () => {
    streams()
    const [stopped, deleted] = [await sleeper(berth, machines), await sleeper(berth, machines)]
    const kept = [await listening(stopped), await listening(deleted)]
    await stopped.fallAsleep()
    await deleted.fallAsleep()
    expect(kept.map(({ isEnded }) => isEnded)).toEqual([false, false])
    await stopped.owner.request("POST", `/v1/servers/${stopped.server.id}/stop`)
    await deleted.owner.request("DELETE", `/v1/servers/${deleted.server.id}`)
    await expect.poll(() => kept.map(({ isEnded }) => isEnded)).toEqual([true, true])
  })

  it("is not kept awake by what a gateway had open that is gone", async () => {
    const one = await sleeper(berth, machines)
    await sql("INSERT INTO gateways (id, seen_at) VALUES ('gone', now() - interval '1 minute')")
    await sql("INSERT INTO server_use VALUES ($1, 'gone', 5, now())", one.server.id)
    await one.fallAsleep()
  })

  it("is not stopped while a gateway has not told what it sent there, and wakes at once by what it tells", async () => {
    const one = await sleeper(berth, machines)
    await sql("INSERT INTO gateways (id, seen_at) VALUES ('slow', now())")
    berth.advance(31_000)
    await expect.poll(async () => {
      await sql("UPDATE gateways SET seen_at = clock_timestamp() - interval '15 seconds' WHERE id = 'slow'")
      await sql("UPDATE servers SET running_since = now() - interval '1 hour' WHERE id = $1", one.server.id)
      await sql("UPDATE server_use SET used_at = now() - interval '1 hour' WHERE server_id = $1", one.server.id)
      berth.hurry(5_000)
      return (await one.read()).asleep
    }).toBe(true)
    await sql("UPDATE servers SET asleep_at = now() - interval '10 seconds' WHERE id = $1", one.server.id)
    await pause(50)
    berth.hurry(3_000)
    for (let i = 0; i < 3; i++) {
      berth.hurry(2_000)
      await pause(100)
    }
    expect(machines.statusOf(one.machine), "the other gateway was not heard").toBe("running")
    await sql("INSERT INTO server_use VALUES ($1, 'slow', 0, clock_timestamp())", one.server.id)
    berth.hurry(2_000)
    await expect.poll(one.read).toMatchObject({ status: "running", asleep: false })
    expect(machines.stops).not.toContain(one.machine)
    await sql("DELETE FROM gateways WHERE id = 'slow'")
  })

  it("never sleeps where its owner says so, and one that sleeps wakes when that is said", async () => {
    const one = await sleeper(berth, machines, { autoStopSeconds: null })
    berth.advance(31_000)
    for (let i = 0; i < 3; i++) {
      await one.age()
      hurry(berth)
      await pause(100)
    }
    expect(await one.read()).toMatchObject({ status: "running", asleep: false })
    const other = await sleeper(berth, machines)
    await other.fallAsleep()
    await other.owner.patch(`/v1/servers/${other.server.id}`, { autoStopSeconds: null })
    berth.hurry(2_000)
    await expect.poll(other.read).toMatchObject({ status: "running", asleep: false })
  })

  it("is woken by nobody but who may use it, and by no document", async () => {
    const one = await sleeper(berth, machines)
    await one.fallAsleep()
    const started = machines.starts.length
    expect((await one.ask("/", { token: "guess" })).status).toBe(401)
    expect((await berth.request("GET", `/s/${one.server.slug}/mcp`)).status).toBe(401)
    const preflight = { "origin": "https://a.example", "access-control-request-method": "POST" }
    expect((await one.ask("/mcp", { headers: preflight }, "OPTIONS")).status).toBe(204)
    expect((await berth.request("GET", `/.well-known/oauth-protected-resource/s/${one.server.slug}/mcp`)).status).toBe(
      200
    )
    await pause(100)
    hurry(berth)
    await pause(100)
    expect(machines.starts).toHaveLength(started)
    expect(await one.read()).toMatchObject({ status: "stopped", asleep: true })
  })

  it("stays stopped once it is stopped by hand, runs once it is started, and is no longer asleep in either", async () => {
    const one = await sleeper(berth, machines)
    await one.fallAsleep()
    const act = (verb: string) => one.owner.request("POST", `/v1/servers/${one.server.id}/${verb}`)
    expect((await act("stop")).body).toMatchObject({ data: { status: "stopped", asleep: false } })
    expect(await one.ask()).toMatchObject({
      status: 503,
      body: { error: { message: "The server is stopped; its owner can start it" } }
    })
    expect(machines.statusOf(one.machine)).toBe("exited")
    expect((await act("start")).body).toMatchObject({ data: { status: "running", asleep: false } })
    await one.fallAsleep()
    expect((await act("restart")).body).toMatchObject({ data: { status: "running", asleep: false } })
    expect((await one.ask()).status).toBe(200)
  })
})

describe("a server that can't be woken", () => {
  const machines = new StartableMachines()
  const berth = useBerth({ machines: machines.layer, variables: { WAKE_SECONDS: "3" } })
  const sql = (statement: string, ...values: ReadonlyArray<unknown>) => runSql(berth.databaseUrl, statement, values)
  beforeEach(() => void (machines.conduct = { delay: 0, listener: healthy }))
  afterAll(machines.clear)

  it("says at once why, is not tried by each request, and is given up after six times in a row", async () => {
    const one = await sleeper(berth, machines)
    await one.fallAsleep()
    machines.conduct = { delay: 30, exits: 3, listener: healthy }
    const began = performance.now()
    const answers = await Promise.all(Array.from({ length: 20 }, () => one.ask()))
    expect(performance.now() - began).toBeLessThan(2_000)
    for (const { body, headers, status } of answers) {
      expect(status).toBe(503)
      expect(headers.get("retry-after")).toMatch(/^\d+$/)
      expect(body).toMatchObject({
        error: { message: expect.stringContaining("could not be started: it exited with code 3 before it was healthy") }
      })
    }
    expect((await one.ask()).status).toBe(503)
    expect(machines.starts.filter((name) => name === one.machine)).toHaveLength(1)
    expect(await one.read()).toMatchObject({ status: "stopped", asleep: true })
    for (let i = 2; i <= 6; i++) {
      await sql("UPDATE servers SET wake_retry_at = now() WHERE id = $1", one.server.id)
      await pause(30)
      expect((await one.ask()).status, String(i)).toBe(503)
    }
    expect(machines.starts.filter((name) => name === one.machine)).toHaveLength(6)
    expect(await one.read()).toMatchObject({ status: "error", asleep: false })
    expect(await one.messages()).toContain("could not be woken 6 times in a row")
    machines.conduct = { delay: 0, listener: healthy }
    const started = await one.owner.request("POST", `/v1/servers/${one.server.id}/start`)
    expect(started.body).toMatchObject({ data: { status: "running" } })
    await expect.poll(async () => (await one.ask()).status).toBe(200)
  })

  it("waits on where its machine was killed while it woke", async () => {
    const one = await sleeper(berth, machines)
    await one.fallAsleep()
    machines.conduct = { delay: 60_000, listener: healthy }
    const asking = one.ask()
    await expect.poll(() => machines.statusOf(one.machine)).toBe("running")
    machines.conduct = { delay: 0, listener: healthy }
    machines.end(one.machine, 137)
    expect((await asking).status).toBe(200)
    expect(machines.starts.filter((name) => name === one.machine)).toHaveLength(2)
  })

  it("runs again by the first request after its cause is gone", async () => {
    const one = await sleeper(berth, machines)
    await one.fallAsleep()
    machines.conduct = { delay: 10, exits: 1, listener: healthy }
    expect((await one.ask()).status).toBe(503)
    machines.conduct = { delay: 0, listener: healthy }
    await pause(1_100)
    expect((await one.ask()).status).toBe(200)
  })

  it("lets nobody wait longer than the limit, and goes on waking", async () => {
    const one = await sleeper(berth, machines)
    await one.fallAsleep()
    machines.conduct = { delay: 3_500, listener: healthy }
    const began = performance.now()
    const { body, headers, status } = await one.ask()
    expect(performance.now() - began).toBeGreaterThan(2_900)
    expect(status).toBe(503)
    expect(headers.get("retry-after")).toBe("5")
    expect(body).toMatchObject({ error: { message: expect.stringContaining("did not start within 3 seconds") } })
    expect((await one.ask()).status).toBe(200)
  })

  it("counts a request that comes to nothing in no month", async () => {
    const one = await sleeper(berth, machines)
    await one.fallAsleep()
    machines.conduct = { delay: 10, exits: 1, listener: healthy }
    const before = await counted(berth, one)
    await one.ask()
    expect(await counted(berth, one)).toBe(before)
  })
})
