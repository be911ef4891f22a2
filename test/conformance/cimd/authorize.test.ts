import { createHash } from "node:crypto"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { type ClientHost, startClientHost } from "../../oauth/support/client-host.ts"
import { useBerth } from "../../support/Berth.ts"

const berth = useBerth({ variables: { ALLOWED_PRIVATE_HOSTS: "127.0.0.1" } })
let host: ClientHost
let stop = () => {}
let resource = ""
let asked = 0

beforeAll(async () => {
  const started = await startClientHost()
  host = started.host
  stop = started.stop
  const owner = await berth.signUp()
  resource = (await owner.server((await owner.project()).id)).publicUrl
})
afterAll(() => stop())
beforeEach(() => void (asked = host.asked.length))

const redirect = "https://client.example/callback"

const authorize = (clientId: string, parameters: Readonly<Record<string, string>> = {}) => {
  const query = new URLSearchParams({
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirect,
    code_challenge: createHash("sha256").update("v".repeat(43)).digest("base64url"),
    code_challenge_method: "S256",
    resource,
    state: "s",
    ...parameters
  })
  return berth.request("GET", `/api/v1/oauth/authorize?${query}`)
}

/** `signs in`: the request is in order. `page`: a page of ours that sends nobody anywhere. */
const outcome = async (clientId: string, parameters?: Readonly<Record<string, string>>) => {
  const { headers, status, text } = await authorize(clientId, parameters)
  const location = headers.get("location")
  if (status === 303 && location?.startsWith("/oauth/sign-in?") === true) return "signs in"
  expect([status, location, headers.get("content-type")]).toEqual([400, null, expect.stringMatching(/^text\/html/)])
  expect(text).not.toContain("<script")
  return "page"
}

const served = (fields: Readonly<Record<string, unknown>> = {}, headers?: Readonly<Record<string, string>>) => {
  const id = host.newId()
  host.serve(host.document(id, fields), headers)
  return id
}

describe("an authorization request of a client that nobody registered", () => {
  it("is in order when the client's document is good", async () => {
    const id = served()
    expect(await outcome(id)).toBe("signs in")
    expect(await outcome(id, { redirect_uri: "http://localhost:41234/callback" })).toBe("signs in")
    expect(host.asked.length - asked).toBe(1)
  })

  it("is a page of ours for a redirect that the document does not list [row 4]", async () => {
    const id = served()
    for (
      const uri of ["https://evil.example/callback", `${redirect}/`, `${redirect}?x=1`, "http://localhost/other", ""]
    ) {
      expect(await outcome(id, { redirect_uri: uri }), uri).toBe("page")
    }
  })

  it("is a page of ours when the document can't be had: no redirect, no code [row 18]", async () => {
    for (const status of [304, 301, 404, 500]) {
      const id = host.newId()
      host.fail(status, { location: `${host.origin}/elsewhere` })
      expect(await outcome(id), String(status)).toBe("page")
    }
    host.answer = (request) => void request.socket.destroy()
    expect(await outcome(host.newId())).toBe("page")
    expect(host.asked.map(({ url }) => url)).not.toContain("/elsewhere")
  })

  it.each(
    [
      ["another client's id", { client_id: "https://victim.example/metadata.json" }],
      ["a secret", { client_secret: "s" }],
      ["a shared-secret method", { token_endpoint_auth_method: "client_secret_post" }],
      ["no name", { client_name: undefined }],
      ["no redirects", { redirect_uris: [] }],
      ["a script among its redirects", { redirect_uris: [redirect, "javascript:alert(1)"] }],
      ["a name of 6 KB", { client_name: "x".repeat(6000) }]
    ] as const
  )("is a page of ours when the document has %s [row 17]", async (_what, fields) => {
    expect(await outcome(served(fields))).toBe("page")
  })

  it("is a page of ours, and no connection, for an id that can't be one or leads inside [row 17]", async () => {
    for (
      const id of [
        "http://client.example/metadata.json",
        "https://client.example",
        "https://client.example/#a",
        "https://client.example/a/../b",
        "https://client.example/%2e%2e/b",
        "https://me:secret@client.example/a",
        `https://localhost:${new URL(host.origin).port}/a`,
        "https://10.0.0.1/a",
        "https://169.254.169.254/latest/meta-data",
        "https://[fd00::1]/a",
        "https://[64:ff9b::7f00:1]/a",
        "client_01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "nobody"
      ]
    ) expect(await outcome(id), id).toBe("page")
    expect(host.asked.length).toBe(asked)
  })

  it("fails once the document is stale and its host is gone, and works again when it is back [row 18]", async () => {
    const id = served({}, { "cache-control": "max-age=0", "etag": "\"v1\"" })
    expect(await outcome(id)).toBe("signs in")
    host.fail(503)
    expect(await outcome(id)).toBe("page")
    host.fail(304)
    expect(await outcome(id)).toBe("signs in")
    expect(host.asked.slice(asked).map((request) => request.headers["if-none-match"]))
      .toEqual([undefined, "\"v1\"", "\"v1\""])
  })

  it("is asked for by ETag after a day", async () => {
    const id = served({}, { etag: "\"v1\"" })
    expect(await outcome(id)).toBe("signs in")
    berth.advance(24 * 60 * 60 * 1000)
    host.fail(304)
    expect(await outcome(id)).toBe("signs in")
    expect(host.asked.slice(asked).map((request) => request.headers["if-none-match"])).toEqual([undefined, "\"v1\""])
  })
})
