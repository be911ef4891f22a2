import { type ServerName, serverName } from "#src/egress/client-hello.ts"
import { authority, forOrigin, hostOf, requestHead } from "#src/egress/request-head.ts"
import { FastCheck } from "effect"
import { once } from "node:events"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { connect } from "node:tls"
import { describe, expect, it } from "vitest"

/** What a real client sends first. */
const helloOf = async (options: { readonly servername?: string; readonly ALPNProtocols?: Array<string> }) => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const client = connect({ host: "127.0.0.1", port: (server.address() as AddressInfo).port, ...options })
  client.on("error", () => undefined)
  const [socket] = await once(server, "connection") as [Socket]
  const [bytes] = await once(socket, "data") as [Buffer]
  client.destroy()
  socket.destroy()
  server.close()
  return bytes
}

/** The same message in records of so many bytes. */
const inRecords = (hello: Buffer, size: number) => {
  const message = hello.subarray(5)
  const records: Array<Buffer> = []
  for (let at = 0; at < message.length; at += size) {
    const part = message.subarray(at, at + size)
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part)
  }
  return Buffer.concat(records)
}

const isProblem = (name: ServerName | undefined) => name !== undefined && "problem" in name

describe("the server name of a TLS client", () => {
  it("is read from what a client sends, however it is cut up", async () => {
    const hello = await helloOf({ servername: "api.example.com", ALPNProtocols: ["h2", "http/1.1"] })
    expect(serverName(hello)).toEqual({ name: "api.example.com" })
    for (const size of [50, 100]) expect(serverName(inRecords(hello, size))).toEqual({ name: "api.example.com" })
    for (let length = 0; length < hello.length; length++) {
      expect(serverName(hello.subarray(0, length)), String(length)).toBeUndefined()
    }
    expect(serverName(Buffer.concat([hello, Buffer.from("more")]))).toEqual({ name: "api.example.com" })
  })

  it("is not looked for in more records than a client would send", async () => {
    const hello = await helloOf({ servername: "api.example.com" })
    expect(serverName(inRecords(hello, 1))).toEqual({ problem: "its TLS handshake is in too many records" })
    const many = inRecords(Buffer.concat([Buffer.alloc(5), Buffer.from([1, 0, 0x7f, 0xf0]), Buffer.alloc(32_000)]), 1)
    expect(isProblem(serverName(many))).toBe(true)
  })

  it("is a problem where there is none, or no TLS", async () => {
    expect(isProblem(serverName(await helloOf({})))).toBe(true)
    for (const text of ["GET / HTTP/1.1\r\n", "\x80\x2e\x01", "SSH-2.0", "\x16\x04", "\x15\x03\x01\0\x02\x02\x28"]) {
      expect(isProblem(serverName(Buffer.from(text, "latin1"))), text).toBe(true)
    }
    expect(isProblem(serverName(Buffer.from([22, 3, 1, 0, 0])))).toBe(true)
    expect(isProblem(serverName(Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0])))).toBe(true)
    // A message of 16 MB is not waited for.
    expect(isProblem(serverName(Buffer.from([22, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff])))).toBe(true)
  })

  it("is never worth an exception", async () => {
    const hello = await helloOf({ servername: "api.example.com" })
    FastCheck.assert(
      FastCheck.property(FastCheck.nat(hello.length - 1), FastCheck.nat(255), (at, value) => {
        const changed = Buffer.from(hello)
        changed[at] = value
        serverName(changed)
      }),
      { numRuns: 2_000 }
    )
    FastCheck.assert(
      FastCheck.property(FastCheck.uint8Array({ maxLength: 400 }), (bytes) => {
        serverName(Buffer.concat([Buffer.from([22, 3, 1, 1, 0x90, 1, 0, 1, 0x8c]), Buffer.from(bytes)]))
      }),
      { numRuns: 2_000 }
    )
  })
})

describe("the head of a request", () => {
  const headOf = (text: string) => {
    const head = requestHead(Buffer.from(text, "latin1"))
    if (head === undefined || "problem" in head) throw new Error(JSON.stringify(head))
    return head
  }
  const host = (text: string) => hostOf(headOf(text))

  it("has one Host", () => {
    expect(host("GET / HTTP/1.1\r\nhOST: Api.Example.com:80 \r\n\r\nbody")).toBe("Api.Example.com")
    expect(host("GET / HTTP/1.1\r\nHost: [2606:4700::1]:80\r\n\r\n")).toBe("2606:4700::1")
    for (
      const hosts of ["", "Host: a.b\r\nHost: c.d\r\n", "Host: a.b@c.d\r\n", "Host: a.b/c\r\n", "Host: a.b:99999\r\n"]
    ) {
      expect(host(`GET / HTTP/1.1\r\n${hosts}\r\n`), hosts).toBeUndefined()
    }
  })

  it("is waited for, up to 16 KiB, and only while it may become one", () => {
    expect(requestHead(Buffer.from("GET / HTTP/1.1\r\nHost: a.b\r\n"))).toBeUndefined()
    expect(requestHead(Buffer.alloc(0))).toBeUndefined()
    const problems = [
      "\x16\x03\x01",
      `GET / HTTP/1.1\r\nx: ${"y".repeat(17_000)}`,
      "PRI * HTTP/2.0\r\n\r\n",
      "GET /\r\n\r\n",
      "GET / HTTP/1.1\r\n folded: x\r\n\r\n",
      "GET / HTTP/1.1\r\nHost : a.b\r\n\r\n",
      "GET / HTTP/1.1\r\nno colon\r\n\r\n"
    ]
    for (const text of problems) expect(requestHead(Buffer.from(text)), text.slice(0, 30)).toHaveProperty("problem")
  })

  it("is never worth an exception", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.string(), (text) => {
        const head = requestHead(Buffer.from(`GET ${text}\r\n\r\n`))
        if (head !== undefined && "headers" in head) expect([hostOf(head), forOrigin(head)]).toHaveLength(2)
        authority(text)
      }),
      { numRuns: 1_000 }
    )
  })

  it("in absolute form becomes what the origin takes", () => {
    const request = forOrigin(headOf(
      "POST http://api.example.com:8080/a?b=c HTTP/1.1\r\nHost: other\r\nProxy-Authorization: x\r\nConnection: keep-alive\r\nX-A: 1\r\n\r\n"
    ))
    expect(request).toMatchObject({ host: "api.example.com", port: 8080 })
    expect(String(request?.bytes)).toBe(
      "POST /a?b=c HTTP/1.1\r\nHost: api.example.com:8080\r\nConnection: close\r\nX-A: 1\r\n\r\n"
    )
    expect(String(forOrigin(headOf("GET http://a.b?c HTTP/1.1\r\n\r\n"))?.bytes)).toMatch(
      /^GET \/\?c HTTP\/1.1\r\nHost: a\.b\r\n/
    )
    for (const target of ["/", "https://a.b/", "a.b:443", "http://u@a.b/", "http:///x"]) {
      expect(forOrigin(headOf(`GET ${target} HTTP/1.1\r\n\r\n`)), target).toBeUndefined()
    }
  })
})
