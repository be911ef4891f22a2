import { once } from "node:events"
import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { describe, expect, it } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { sendRaw } from "../support/http.ts"

const berth = useBerth()

const rest = "Host: x\r\nConnection: close\r\n\r\n"

describe("what is no HTTP request", () => {
  it("gets the envelope, the headers of every answer, and the end of the connection", async () => {
    const requests: ReadonlyArray<readonly [string, number, string]> = [
      [`BREW /v1/projects HTTP/1.1\r\n${rest}`, 400, "BAD_REQUEST"],
      [`GET /v1/projects HTTP/9.9\r\n${rest}`, 400, "BAD_REQUEST"],
      [`GET /v1/pro\u0000jects HTTP/1.1\r\n${rest}`, 400, "BAD_REQUEST"],
      ["hello\r\n\r\n", 400, "BAD_REQUEST"],
      [`GET / HTTP/1.1\r\nHost: x\r\nBad Header: x\r\n\r\n`, 400, "BAD_REQUEST"],
      [`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 2\r\n\r\n`, 400, "BAD_REQUEST"],
      [`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`, 400, "BAD_REQUEST"],
      [`GET / HTTP/1.1\r\nX-Long: ${"a".repeat(20_000)}\r\n${rest}`, 431, "HEADERS_TOO_LARGE"]
    ]
    for (const [bytes, status, code] of requests) {
      const answer = await sendRaw(berth.url, bytes)
      const [head = "", body = ""] = answer.split("\r\n\r\n")
      expect(head.split("\r\n")[0], bytes.slice(0, 40)).toEqual(expect.stringContaining(` ${status} `))
      for (const name of ["x-request-id", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]) {
        expect(head.toLowerCase().includes(`\r\n${name}: `), name).toBe(true)
      }
      expect(JSON.parse(body)).toEqual({ error: { code, message: expect.stringMatching(/\S/) } })
    }
  })

  it("without a Host header is refused too (RFC 9112 §3.2), and so is a tunnel", async () => {
    for (
      const [bytes, status, code] of [
        ["GET /v1/health HTTP/1.1\r\nConnection: close\r\n\r\n", 400, "BAD_REQUEST"],
        ["CONNECT evil.example:80 HTTP/1.1\r\nHost: evil.example:80\r\n\r\n", 405, "METHOD_NOT_ALLOWED"]
      ] as const
    ) {
      const answer = await sendRaw(berth.url, bytes)
      expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
      expect(answer).toMatch(/\r\nx-request-id: \S+\r\n/i)
      expect(answer).toContain(`"code":"${code}"`)
    }
  })

  it("ends its own connection only, however its client leaves", async () => {
    const { hostname, port } = new URL(berth.url)
    for (const bytes of ["CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n", "garbage\r\n\r\n"]) {
      for (const wait of [0, 1, 20, 50]) {
        const socket = connect({ host: hostname, port: Number(port) }).on("error", () => undefined)
        await once(socket, "connect")
        socket.write(bytes)
        await new Promise((resolve) => setTimeout(resolve, wait))
        socket.resetAndDestroy()
      }
    }
    expect((await berth.request("GET", "/v1/health")).status).toBe(200)
  })

  it("is answered in its turn", async () => {
    const login = JSON.stringify({ email: "nobody@example.com", password: "wrong-password" })
    const answer = await sendRaw(
      berth.url,
      `POST /v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${login.length}\r\n\r\n` +
        `${login}CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n`
    )
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 401", "HTTP/1.1 405"])
  })

  it("is answered in its turn behind one that waits for 100 Continue, and not within its answer", async () => {
    const login = JSON.stringify({ email: "nobody@example.com", password: "wrong-password" })
    const first = (expect: string) =>
      `POST /v1/auth/login HTTP/1.1\r\nHost: x\r\n${expect}Content-Type: application/json\r\nContent-Length: ${login.length}\r\n\r\n${login}`
    const expecting = "Expect: 100-continue\r\n"
    for (
      const [second, status] of [["CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n", 405], ["garbage\r\n\r\n", 400]] as const
    ) {
      const statuses = async (bytes: string) => (await sendRaw(berth.url, bytes)).match(/(?<=HTTP\/1\.1 )(?!100)\d+/g)
      expect(await statuses(`${first(expecting)}${second}`), second).toEqual(["401", `${status}`])
      // One that has its answer before its turn to be told 100 is its connection's last.
      expect(["401,401", `401,401,${status}`]).toContain(
        (await statuses(`${first("")}${first(expecting)}${second}`))?.join()
      )
      expect(await statuses(`${first("")}${first("Expect: foo\r\n")}${second}`), second).toEqual([
        "401",
        "417",
        `${status}`
      ])
    }
  })

  it("is not made of what follows an Upgrade that is ignored: its answer is the connection's last", async () => {
    const offer = "Host: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n"
    const smuggled = "GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n"
    const { hostname, port } = new URL(berth.url)
    for (
      const first of [
        `GET /v1/health HTTP/1.1\r\n${offer}\r\n`,
        `POST /v1/auth/login HTTP/1.1\r\n${offer}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`
      ]
    ) {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true }).on("error", () => undefined)
      socket.write(`${first}POST /v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: ${smuggled.length}\r\n\r\n`)
      await new Promise((resolve) => setTimeout(resolve, 5))
      socket.write(smuggled)
      const answer = await text(socket)
      expect(answer.match(/HTTP\/1\.1 \d+/g)).toHaveLength(1)
      expect(answer).toMatch(/\r\nconnection: close\r\n/i)
    }
  })

  it("does not disturb what another connection asks", async () => {
    const noise = Array.from({ length: 20 }, () => sendRaw(berth.url, "garbage\r\n\r\n"))
    const answers = await Promise.all(Array.from({ length: 20 }, () => berth.request("GET", "/v1/health")))
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
    await Promise.all(noise)
  })
})
