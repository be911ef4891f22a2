import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { gatewayServices, newServer, raw, rawRequest, startGateway, startUpstream, statusOf } from "./support.ts"

interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: ReadonlyArray<string>
  readonly body: string
}

/** A machine that writes down what reaches it. */
const witness = Effect.gen(function*() {
  const seen: Array<Seen> = []
  const machine = yield* startUpstream((req, res) => {
    let body = ""
    req.on("data", (chunk) => body += chunk).on("end", () => {
      seen.push({ method: req.method!, url: req.url!, headers: req.rawHeaders, body })
      res.writeHead(200, ["X-Kept", "1", "Connection", "x-hop, close", "X-Hop", "1", "Proxy-Authenticate", "Basic"])
      res.end("ok")
    })
  })
  const { port } = yield* startGateway
  const server = yield* newServer({ machine })
  return { port, seen, server, authorization: `Authorization: Bearer ${server.token}` }
})

const valuesOf = (headers: ReadonlyArray<string>, name: string) =>
  headers.filter((_, i) => i % 2 === 1 && headers[i - 1]!.toLowerCase() === name)

layer(gatewayServices(), { excludeTestServices: true })("the gateway's parser", (it) => {
  it.scoped("refuses what two parsers could read differently, and passes none of it on", () =>
    Effect.gen(function*() {
      const { authorization, port, seen, server } = yield* witness
      const other = yield* newServer()
      const path = `${server.path}/mcp`
      const smuggled = "0\r\n\r\nGET /admin HTTP/1.1\r\nHost: a\r\n\r\n"
      const cases: Readonly<Record<string, readonly [target: string, headers: ReadonlyArray<string>, body?: string]>> =
        {
          "two Host headers": [path, ["Host: berth.test", `Host: ${other.host}`, authorization]],
          "two Host headers, in two spellings": [path, ["Host: berth.test", "hOST: berth.test", authorization]],
          "two Host headers for the platform": ["/v1/health", ["Host: berth.test", `Host: ${server.host}`]],
          "an absolute target of another host": [`http://${other.host}/mcp`, [`Host: ${server.host}`, authorization]],
          "an absolute target with a user": [`http://x@${server.host}/`, [`Host: ${server.host}`, authorization]],
          "an absolute target of another port": [`http://${server.host}:1/`, [`Host: ${server.host}`, authorization]],
          "another scheme": [`ftp://${server.host}/`, [`Host: ${server.host}`, authorization]],
          "a length and a coding": [
            path,
            ["Host: b", authorization, "Content-Length: 5", "Transfer-Encoding: chunked"],
            smuggled
          ],
          "a coding and a length": [
            path,
            ["Host: b", authorization, "Transfer-Encoding: chunked", "Content-Length: 5"],
            smuggled
          ],
          "two lengths": [path, ["Host: b", authorization, "Content-Length: 5", "Content-Length: 6"], "hello!"],
          "a list of lengths": [path, ["Host: b", authorization, "Content-Length: 5, 5"], "hello"],
          "a signed length": [path, ["Host: b", authorization, "Content-Length: +5"], "hello"],
          "a hexadecimal length": [path, ["Host: b", authorization, "Content-Length: 0x5"], "hello"],
          "gzip before chunked": [path, ["Host: b", authorization, "Transfer-Encoding: gzip, chunked"], smuggled],
          "chunked before identity": [
            path,
            ["Host: b", authorization, "Transfer-Encoding: chunked, identity"],
            smuggled
          ],
          "chunked twice": [path, ["Host: b", authorization, "Transfer-Encoding: chunked, chunked"], smuggled],
          "chunked on two lines": [
            path,
            ["Host: b", authorization, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
            smuggled
          ],
          "an unknown coding": [path, ["Host: b", authorization, "Transfer-Encoding: xchunked"], smuggled],
          "a vertical tab in the coding": [
            path,
            ["Host: b", authorization, "Transfer-Encoding: \u000bchunked"],
            smuggled
          ],
          "a blank before the colon": [path, ["Host: b", authorization, "Transfer-Encoding : chunked"], smuggled],
          "a folded header": [path, ["Host: b", authorization, "X: a\r\n b"]],
          "two credentials": [path, ["Host: b", authorization, `Authorization: Bearer ${other.token}`]],
          "a bad chunk size": [
            path,
            ["Host: b", authorization, "Transfer-Encoding: chunked"],
            "0x5\r\nhello\r\n0\r\n\r\n"
          ],
          "a chunk size with a sign": [
            path,
            ["Host: b", authorization, "Transfer-Encoding: chunked"],
            "+5\r\nhello\r\n0\r\n\r\n"
          ]
        }
      for (const [name, [target, headers, body]] of Object.entries(cases)) {
        const response = yield* rawRequest(port, "POST", target, headers, body)
        // A body that breaks after the head was accepted can only be answered by hanging up.
        assert.isTrue(response === "" || [400, 502].includes(statusOf(response)), `${name}: ${response}`)
        assert.notInclude(response, "ok", name)
      }
      assert.deepStrictEqual(seen, [])
    }), 30_000)

  it.scoped("refuses a coding in HTTP/1.0, and takes a request without Host in the path form", () =>
    Effect.gen(function*() {
      const { authorization, port, server } = yield* witness
      const chunked = `POST ${server.path}/ HTTP/1.0\r\n${authorization}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`
      assert.strictEqual(statusOf(yield* raw(port, chunked)), 400)
      assert.strictEqual(statusOf(yield* raw(port, `GET ${server.path}/ HTTP/1.0\r\n${authorization}\r\n\r\n`)), 200)
      const none = yield* raw(port, `GET ${server.path}/ HTTP/1.1\r\n${authorization}\r\nConnection: close\r\n\r\n`)
      assert.strictEqual(statusOf(none), 400)
    }))

  it.scoped("takes an absolute target that agrees with Host", () =>
    Effect.gen(function*() {
      const { authorization, port, seen, server } = yield* witness
      const host = `Host: ${server.host}:8787`
      yield* rawRequest(port, "GET", `http://${server.host.toUpperCase()}:8787/mcp?a=b`, [host, authorization])
      yield* rawRequest(port, "GET", `http://${server.host}:8787?a=b`, [host, authorization])
      assert.deepStrictEqual(seen.map(({ url }) => url), ["/mcp?a=b", "/?a=b"])
    }))

  it.scoped("strips what is for one hop only, both ways, also what Connection names", () =>
    Effect.gen(function*() {
      const { authorization, port, seen, server } = yield* witness
      const response = yield* rawRequest(port, "POST", `${server.path}/mcp`, [
        "Host: b",
        authorization,
        "Keep-Alive: timeout=9",
        "Proxy-Connection: keep-alive",
        "Proxy-Authorization: Basic eDp5",
        "TE: trailers",
        "Trailer: X-Sum",
        "Upgrade: h2c",
        "HTTP2-Settings: AAMAAABk",
        "X-Secret-Hop: 1",
        "X-Kept: 1",
        "Connection: Upgrade, HTTP2-Settings, X-Secret-Hop, content-length, X-Forwarded-For",
        "Content-Length: 5"
      ], "hello")
      assert.strictEqual(statusOf(response), 200, response)
      const { body, headers } = seen[0]!
      assert.strictEqual(body, "hello")
      const names = headers.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase()).sort()
      assert.deepStrictEqual(names, [
        "authorization",
        "connection",
        "content-length",
        "host",
        "x-berth-gateway-token",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-prefix",
        "x-forwarded-proto",
        "x-kept"
      ])
      assert.deepStrictEqual(valuesOf(headers, "connection"), ["keep-alive"])
      const head = response.slice(0, response.indexOf("\r\n\r\n")).toLowerCase()
      assert.include(head, "x-kept: 1")
      for (const name of ["x-hop", "proxy-authenticate", "keep-alive:"]) assert.notInclude(head, name)
      assert.strictEqual(head.match(/^date:/gm)?.length, 1)
    }))

  it.scoped("says itself where a request came from, and drops what the client claims", () =>
    Effect.gen(function*() {
      const { authorization, port, seen, server } = yield* witness
      yield* rawRequest(port, "GET", `${server.path}/mcp`, [
        "Host: Berth.Test",
        authorization,
        "X-Forwarded-For: 6.6.6.6",
        "X-Forwarded-Host: evil.test",
        "X-Forwarded-Proto: gopher",
        "X-Forwarded-Prefix: /evil",
        "X-Forwarded-Port: 666",
        "Forwarded: for=6.6.6.6",
        "X-Real-IP: 6.6.6.6"
      ])
      const { headers } = seen[0]!
      assert.deepStrictEqual(valuesOf(headers, "host"), ["localhost:8080"])
      assert.deepStrictEqual(valuesOf(headers, "x-forwarded-for"), ["127.0.0.1"])
      assert.deepStrictEqual(valuesOf(headers, "x-forwarded-host"), ["Berth.Test"])
      assert.deepStrictEqual(valuesOf(headers, "x-forwarded-proto"), ["http"])
      assert.deepStrictEqual(valuesOf(headers, "x-forwarded-prefix"), [server.path])
      assert.notInclude(headers.join("\n"), "6.6.6.6")
      assert.notInclude(headers.join("\n"), "666")
      yield* rawRequest(port, "GET", "/", [`Host: ${server.host}`, authorization])
      assert.deepStrictEqual(valuesOf(seen[1]!.headers, "x-forwarded-prefix"), [])
    }))

  it.scoped("sends a body on as it was framed, and none where there was none", () =>
    Effect.gen(function*() {
      const { authorization, port, seen, server } = yield* witness
      const send = (method: string, headers: ReadonlyArray<string>, body?: string) =>
        rawRequest(port, method, `${server.path}/`, ["Host: b", authorization, ...headers], body)
      yield* send("POST", [])
      yield* send("POST", ["Content-Length: 0"])
      yield* send("POST", ["Transfer-Encoding: Chunked"], "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX-Trailer: 1\r\n\r\n")
      yield* send("GET", ["Content-Length: 2"], "hi")
      yield* send("DELETE", [])
      yield* send("GET", [])
      const framing = seen.map(({ body, headers }) => [
        body,
        valuesOf(headers, "content-length").join(),
        valuesOf(headers, "transfer-encoding").join()
      ])
      assert.deepStrictEqual(framing, [
        ["", "0", ""],
        ["", "0", ""],
        ["abcde", "", "chunked"],
        ["hi", "2", ""],
        ["", "", ""],
        ["", "", ""]
      ])
    }))

  it.scoped("refuses WebSocket clearly and closes", () =>
    Effect.gen(function*() {
      const { authorization, port, seen, server } = yield* witness
      const response = yield* raw(
        port,
        `GET ${server.path}/ws HTTP/1.1\r\nHost: b\r\n${authorization}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
          "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
      )
      assert.strictEqual(statusOf(response), 501)
      assert.include(response, "NOT_IMPLEMENTED")
      assert.deepStrictEqual(seen, [])
    }))

  it.scoped("lets a client wait with its body until it was let in", () =>
    Effect.gen(function*() {
      const { authorization, port, seen, server } = yield* witness
      const head = (credentials: string) =>
        `POST ${server.path}/ HTTP/1.1\r\nHost: b\r\n${credentials}\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n`
      const refused = yield* raw(port, head("X: y"), (text) => text.includes("\r\n\r\n"))
      assert.strictEqual(statusOf(refused), 401)
      const accepted = yield* raw(port, head(authorization), (text) => text.includes("\r\n\r\n"))
      assert.strictEqual(accepted, "HTTP/1.1 100 Continue\r\n\r\n")
      const whole = yield* raw(port, `${head(authorization)}hello`, (text) => text.includes("ok"))
      assert.strictEqual(whole.match(/^HTTP\/1\.1 \d+/gm)?.join(), "HTTP/1.1 100,HTTP/1.1 200")
      assert.strictEqual(seen.at(-1)?.body, "hello")
      assert.deepStrictEqual(valuesOf(seen.at(-1)!.headers, "expect"), [])
    }))
})

layer(gatewayServices({ TRUST_PROXY: "1" }), { excludeTestServices: true })("behind a trusted proxy", (it) => {
  it.scoped("the gateway hands on what the proxy saw, and adds the proxy", () =>
    Effect.gen(function*() {
      const { authorization, port, seen, server } = yield* witness
      yield* rawRequest(port, "GET", `${server.path}/mcp`, [
        "Host: b",
        authorization,
        "X-Forwarded-For: 192.0.2.1",
        "X-Forwarded-Host: public.test",
        "X-Forwarded-Proto: https",
        "X-Forwarded-Prefix: /evil"
      ])
      const { headers } = seen[0]!
      assert.deepStrictEqual(valuesOf(headers, "x-forwarded-for"), ["192.0.2.1, 127.0.0.1"])
      assert.deepStrictEqual(valuesOf(headers, "x-forwarded-host"), ["public.test"])
      assert.deepStrictEqual(valuesOf(headers, "x-forwarded-proto"), ["https"])
      assert.deepStrictEqual(valuesOf(headers, "x-forwarded-prefix"), [server.path])
    }))
})
