import { bearerChallenges } from "#http/gateway/shared-origin.ts"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { gatewayServices, newServer, rawRequest, startGateway, startUpstream } from "./support.ts"

/** Each says something of the whole origin, not of the answer that it comes with. */
const originHeaders = [
  ["Strict-Transport-Security", "max-age=0"],
  ["Public-Key-Pins", "pin-sha256=\"x\"; max-age=9"],
  ["Expect-CT", "max-age=0"],
  ["Alt-Svc", "h3=\"evil.test:443\"; ma=99999"],
  ["NEL", "{\"report_to\":\"x\",\"max_age\":99999}"],
  ["Report-To", "{\"group\":\"x\",\"max_age\":99999,\"endpoints\":[{\"url\":\"https://evil.test\"}]}"],
  ["Reporting-Endpoints", "default=\"https://evil.test\""],
  ["Service-Worker-Allowed", "/"],
  ["Origin-Agent-Cluster", "?0"],
  ["Accept-CH", "Sec-CH-UA-Model"],
  ["Critical-CH", "Sec-CH-UA-Model"],
  ["Use-As-Dictionary", "match=\"/*\""],
  ["Set-Login", "logged-out"],
  ["WWW-Authenticate", "Basic realm=\"Berth\""]
] as const

/** Each is about the one answer. */
const ofTheAnswer = [
  ["Cache-Control", "max-age=60"],
  ["Permissions-Policy", "camera=()"],
  ["Document-Policy", "unsized-media=?0"],
  ["Link", "</style.css>; rel=preload"],
  ["Refresh", "5"],
  ["SourceMap", "/x.map"],
  ["X-Frame-Options", "DENY"],
  ["Mcp-Protocol-Version", "2025-11-25"]
] as const

layer(gatewayServices(), { excludeTestServices: true })("an answer of a machine", (it) => {
  /** What a machine's headers become, by the address it was asked at. */
  const asked = Effect.fnUntraced(function*(headers: ReadonlyArray<readonly [string, string]>) {
    const { port } = yield* startGateway
    const machine = yield* startUpstream((_, res) => void res.writeHead(200, headers.flat()).end("x"))
    const { host, path, token } = yield* newServer({ machine })
    const ask = (name: string, target: string) =>
      Effect.map(
        rawRequest(port, "GET", target, [`Host: ${name}`, `Authorization: Bearer ${token}`]),
        (response) => {
          const lines = response.slice(0, response.indexOf("\r\n\r\n")).split("\r\n").slice(1)
          return (name: string) =>
            lines.flatMap((line) =>
              line.toLowerCase().startsWith(`${name.toLowerCase()}: `) ? [line.slice(name.length + 2)] : []
            )
        }
      )
    return { byHost: yield* ask(host, "/x"), byPath: yield* ask("berth.test", `${path}/x`) }
  })

  it.scoped("in the path form says nothing of the platform's origin; in the host form the origin is its own", () =>
    Effect.gen(function*() {
      const { byHost, byPath } = yield* asked([...originHeaders, ...ofTheAnswer])
      for (const [name, value] of originHeaders) {
        assert.deepStrictEqual(byPath(name), [], name)
        assert.deepStrictEqual(byHost(name), [value], name)
      }
      for (const [name, value] of ofTheAnswer) {
        assert.deepStrictEqual(byPath(name), [value], name)
        assert.deepStrictEqual(byHost(name), [value], name)
      }
    }))

  const documents: ReadonlyArray<ReadonlyArray<string>> = [
    ["text/html"],
    ["Text/HTML; charset=utf-8"],
    ["application/xhtml+xml"],
    ["image/svg+xml"],
    ["text/xml"],
    ["application/rss+xml"],
    ["multipart/x-mixed-replace; boundary=x"],
    ["application/x-unknown"],
    ["text/plain, text/html"],
    ["application/json", "text/html"],
    ["json"],
    []
  ]
  const data = ["application/json", "application/problem+json; charset=utf-8", "text/event-stream", "image/png"]

  it.scoped("in the path form is a document without scripts or origin, unless its type is none of a document", () =>
    Effect.gen(function*() {
      const policy = "Content-Security-Policy"
      for (const types of documents) {
        const { byHost, byPath } = yield* asked(types.map((type) => ["Content-Type", type] as const))
        assert.deepStrictEqual(byPath(policy), ["sandbox"], types.join())
        assert.deepStrictEqual(byHost(policy), [], types.join())
      }
      for (const type of data) {
        const { byPath } = yield* asked([["Content-Type", type]])
        assert.deepStrictEqual(byPath(policy), [], type)
      }
    }))

  it.scoped("can't weaken that by headers of its own", () =>
    Effect.gen(function*() {
      const { byHost, byPath } = yield* asked([
        ["Content-Type", "text/html"],
        ["Content-Security-Policy", "sandbox allow-scripts allow-same-origin"],
        ["X-Content-Type-Options", "sniff"]
      ])
      assert.deepStrictEqual(byPath("Content-Security-Policy"), ["sandbox allow-scripts allow-same-origin", "sandbox"])
      assert.deepStrictEqual(byPath("X-Content-Type-Options"), ["nosniff"])
      assert.deepStrictEqual(byHost("X-Content-Type-Options"), ["sniff"])
    }))

  it.scoped("gives no orders to a proxy in front", () =>
    Effect.gen(function*() {
      const orders = ["X-Accel-Redirect", "X-Sendfile", "X-Lighttpd-Send-File", "X-Reproxy-URL"]
      const { byHost, byPath } = yield* asked([
        ...orders.map((name) => [name, "/v1/auth/me"] as const),
        ["X-Accel-Buffering", "no"]
      ])
      for (const name of orders) assert.deepStrictEqual([byHost(name), byPath(name)], [[], []], name)
      assert.deepStrictEqual([byHost("X-Accel-Buffering"), byPath("X-Accel-Buffering")], [["no"], ["no"]])
    }))

  it.scoped("starts no session that a browser binds to itself, in either form", () =>
    Effect.gen(function*() {
      const { byHost, byPath } = yield* asked([["Secure-Session-Registration", "(ES256); path=\"/x\""]])
      const name = "Secure-Session-Registration"
      assert.deepStrictEqual([byHost(name), byPath(name)], [[], []])
    }))
})

describe("challenges of a machine in the path form", () => {
  it.each([
    ["Bearer", "Bearer"],
    [`Bearer realm="a, Basic b", error="invalid_token"`, `Bearer realm="a, Basic b", error="invalid_token"`],
    [`bearer resource_metadata="https://a/b"`, `bearer resource_metadata="https://a/b"`],
    [`DPoP algs="ES256"`, `DPoP algs="ES256"`],
    [`Basic realm="a", Bearer realm="b"`, `Bearer realm="b"`],
    [`Bearer realm="b", scope="x y" , Digest qop="auth", nonce="n"`, `Bearer realm="b", scope="x y"`],
    [`Negotiate YII=, Bearer error="invalid_token"`, `Bearer error="invalid_token"`],
    [`,, Bearer ,, NTLM`, "Bearer"],
    [`Bearer realm="\\"", Basic realm="x"`, `Bearer realm="\\""`]
  ])(
    "keep what no browser asks a person about: %s → %s",
    (value, kept) => assert.strictEqual(bearerChallenges(value), kept)
  )

  it.each([
    `Basic realm="Berth"`,
    "BASIC realm=x",
    "Negotiate",
    "NTLM TlRMTVNTUAAC",
    `Digest realm="x", qop="auth"`,
    `realm="x"`,
    `Bearer realm="x, Basic realm="y"`,
    `Bearer realm="x`,
    ""
  ])("lose the rest: %s", (value) => assert.isUndefined(bearerChallenges(value)))
})
