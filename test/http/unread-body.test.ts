import { bounds, linger, LingeringResponse } from "#http/connection/linger.ts"
import { once } from "node:events"
import { createServer, type Server } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { text } from "node:stream/consumers"
import { afterEach, beforeAll, describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { newBusiness } from "../support/business.ts"
import { freshAddress } from "../support/http.ts"
import { itLong } from "../support/needs.ts"

const berth = useBerth()
let owner: Account
let upload = ""
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  const { id } = await newBusiness(owner, { projectId: (await owner.project()).id })
  upload = `/api/v1/ready/businesses/${id}/import`
})

const megabytes = (count: number) => "x".repeat(count * 1024 * 1024)

/** Sent by `fetch`, which reads nothing before it has sent everything, and takes a reset for a failure. */
const post = async (
  path: string,
  body: string | FormData,
  type?: string,
  token = owner.token,
  from = freshAddress()
) => {
  const headers = {
    authorization: `Bearer ${token}`,
    "x-forwarded-for": from,
    ...(type === undefined ? {} : { "content-type": type })
  }
  const answer = await fetch(`${berth.url}${path}`, { method: "POST", headers, body })
  return { status: answer.status, body: await answer.json() as unknown }
}

const form = (count: number) => {
  const fields = new FormData()
  fields.append("file", new File([megabytes(count)], "menu.csv"))
  return fields
}

describe("an answer that comes before the request's body has", () => {
  itLong("is heard by a client that sends everything first: an import that is too large", async () => {
    for (const count of [11, 15, 15, 15, 50]) {
      const answer = await post(upload, form(count))
      expect(answer, String(count)).toMatchObject({ status: 413, body: { error: { code: "file_too_large" } } })
    }
  })

  it("is heard whatever it is: too large, not allowed, not there, too many, from the gateway", async () => {
    const spent = freshAddress()
    await Promise.all(Array.from({ length: 100 }, () => post("/v1/nothing", "{}", "application/json", "x", spent)))
    const asked = {
      "413 of JSON": await post("/v1/projects", megabytes(15), "application/json"),
      "413 of a form": await post("/api/v1/oauth/token", megabytes(15), "application/x-www-form-urlencoded"),
      "413 at the MCP door": await post("/mcp", megabytes(15), "application/json"),
      "400 for its type": await post("/v1/projects", form(15)),
      "401": await post(upload, form(15), undefined, "svc_sess_nobody"),
      "404": await post("/v1/nothing", megabytes(15), "application/json"),
      "405": await post("/v1/health", megabytes(15), "application/json"),
      "429": await post(upload, form(15), undefined, "x", spent),
      "404 of the gateway": await post("/s/none/mcp", megabytes(15), "application/json")
    }
    for (const [name, { status }] of Object.entries(asked)) {
      // A body is read before its path is found to lead nowhere.
      expect(status, name).toEqual(name === "404" ? 413 : Number(name.slice(0, 3)))
    }
  })

  const head = (method: string, path: string, ...lines: ReadonlyArray<string>) =>
    [`${method} ${path} HTTP/1.1`, "Host: x", `X-Forwarded-For: ${freshAddress()}`, ...lines, "", ""].join("\r\n")

  it("keeps the connection for the next request, once the body has come", async () => {
    const socket = connect(Number(new URL(berth.url).port), "127.0.0.1").setEncoding("latin1")
    const received = text(socket)
    const body = megabytes(1)
    socket.write(head("POST", "/s/none/mcp", `Content-Length: ${body.length}`))
    await once(socket, "data")
    socket.write(body)
    socket.write(head("GET", "/v1/health", "Connection: close"))
    expect((await received).match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 404", "HTTP/1.1 200"])
  })

  it("ends the connection of a client that waits for 100 Continue: what it sends next is read as nothing", async () => {
    const socket = connect(Number(new URL(berth.url).port), "127.0.0.1").setEncoding("latin1")
    const received = text(socket)
    const smuggled = head("GET", "/v1/health", "Connection: close")
    socket.write(head("POST", "/s/none/mcp", "Expect: 100-continue", `Content-Length: ${smuggled.length}`))
    await once(socket, "data")
    socket.write(smuggled + smuggled)
    const answer = await received
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 404"])
    expect(answer).toMatch(/^connection: close\r$/im)
  })

  it("waits with the answer's end for the body of a POST to ours that was told to go on", async () => {
    const socket = connect(Number(new URL(berth.url).port), "127.0.0.1").setEncoding("latin1")
    const received = text(socket)
    socket.write(
      head("POST", "/v1/projects", "Expect: 100-continue", "Content-Length: 3000000", "Content-Type: application/json")
    )
    await once(socket, "data")
    socket.end("x".repeat(3_000_000))
    expect((await received).match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 100", "HTTP/1.1 413"])
  })
})

describe("what a client goes on sending", () => {
  const servers: Array<Server> = []
  afterEach(() => {
    for (const server of servers.splice(0)) server.close().closeAllConnections()
  })

  /** Answers at once, and says how the waiting for the body ended. */
  const answering = async (most: typeof bounds | { [K in keyof typeof bounds]: number }) => {
    let ended = (_how: string) => {}
    const end = new Promise<string>((resolve) => void (ended = resolve))
    const server = createServer((req, res) => {
      res.writeHead(413, { "content-length": 2 })
      res.write("no")
      linger(req, () => {
        ended(req.complete ? "whole" : "cut")
        res.end()
      }, most)
    }).listen(0, "127.0.0.1")
    servers.push(server)
    await once(server, "listening")
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1")
    socket.on("error", () => undefined).resume()
    socket.write("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    return { socket, end }
  }
  const chunk = `400\r\n${"x".repeat(1024)}\r\n`

  it("is read to its end within the bounds", async () => {
    const { end, socket } = await answering(bounds)
    for (let i = 0; i < 100; i++) socket.write(chunk)
    socket.write("0\r\n\r\n")
    expect(await end).toBe("whole")
    socket.destroy()
  })

  it("is cut when it is too much, when it goes on for too long, and when nothing comes", async () => {
    const much = await answering({ ...bounds, bytes: 10_000 })
    for (let i = 0; i < 20; i++) much.socket.write(chunk)
    expect(await much.end).toBe("cut")

    const slow = await answering({ ...bounds, millis: 200, silentMillis: 10_000 })
    const dripping = setInterval(() => slow.socket.write("1\r\nx\r\n"), 20)
    expect(await slow.end).toBe("cut")
    clearInterval(dripping)

    const silent = await answering({ ...bounds, silentMillis: 50 })
    expect(await silent.end).toBe("cut")
    for (const { socket } of [much, slow, silent]) if (!socket.destroyed) await once(socket, "close")
  })

  it("does not keep an answer's bytes back, with or without a length, nor one that has none", async () => {
    const bodies = ["text", Buffer.from("bytes"), undefined]
    for (const body of bodies) {
      const server = createServer({ ServerResponse: LingeringResponse }, (_req, res) => res.end(body)).listen(
        0,
        "127.0.0.1"
      )
      servers.push(server)
      await once(server, "listening")
      const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").setEncoding("latin1")
      socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n")
      let received = ""
      const whole = `\r\n\r\n${body?.toString() ?? ""}`
      while (!received.endsWith(whole)) received += String((await once(socket, "data"))[0])
      expect(received).toContain(`Content-Length: ${body?.length ?? 0}\r\n`)
      socket.destroy()
    }
  })
})
