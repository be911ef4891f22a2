import { describe, expect, it } from "vitest"
import { failure } from "../contract/shapes.ts"
import { useBerth } from "../support/Berth.ts"
import { sendRaw } from "../support/http.ts"
import { fill, openApi, operationsOf, speaksLowerCase } from "../support/operations.ts"

const berth = useBerth()

const order = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
const allowOf = (methods: ReadonlyArray<string>) => {
  const all = new Set([...methods, ...methods.includes("GET") ? ["HEAD"] : [], "OPTIONS"])
  return order.filter((method) => all.has(method)).join(", ")
}

describe("a path with a method that has no meaning there", () => {
  it("is 405 with what is allowed, for each path of the API and whoever asks", async () => {
    const operations = operationsOf(await openApi(berth))
    // Its path has the form of a business's too.
    const paths = [...new Set(operations.map(({ path }) => path))].filter((path) => !path.endsWith("/publish"))
    expect(paths.length).toBeGreaterThan(30)
    const owner = await berth.signUp("enterprise")
    for (const path of paths) {
      const here = operations.filter((operation) => operation.path === path)
      const allow = allowOf(here.map(({ method }) => method))
      const url = fill(here[0]!, {})
      const method = ["PUT", "DELETE"].find((method) => !allow.includes(method))!
      const code = speaksLowerCase(path) ? "method_not_allowed" : "METHOD_NOT_ALLOWED"
      for (const ask of [berth.request, (method: string, path: string) => owner.request(method, path)]) {
        for (const other of [method, "PROPFIND"]) {
          const answer = await ask(other, url)
          expect([answer.status, answer.headers.get("allow"), answer.body], `${path} ${other}`).toEqual([
            405,
            allow,
            failure(code)
          ])
        }
      }
    }
  })

  it("is 405 at the pages, documents and protocol endpoints too", async () => {
    const paths = {
      "/": "GET, HEAD, OPTIONS",
      "/docs": "GET, HEAD, OPTIONS",
      "/openapi.json": "GET, HEAD, OPTIONS",
      "/mcp": "POST, OPTIONS",
      "/sse": "GET, HEAD, OPTIONS",
      "/message": "POST, OPTIONS",
      "/oauth/sign-in": "GET, HEAD, POST, OPTIONS",
      "/oauth/consent": "POST, OPTIONS",
      "/hub/templates/generic_catalog.csv": "GET, HEAD, OPTIONS",
      "/.well-known/oauth-authorization-server": "GET, HEAD, OPTIONS",
      "/.well-known/oauth-protected-resource/mcp": "GET, HEAD, OPTIONS",
      "/api/v1/ready/self/config": "GET, HEAD, OPTIONS"
    }
    for (const [path, allow] of Object.entries(paths)) {
      const answer = await berth.request("PUT", path)
      expect([answer.status, answer.headers.get("allow"), answer.body], path).toMatchObject([405, allow, {
        error: { code: expect.stringMatching(/^method_not_allowed$/i) }
      }])
    }
  })

  it("is 405 in OAuth's own words at its endpoints (RFC 6749 §5.2)", async () => {
    for (const endpoint of ["token", "revoke", "introspect", "register"]) {
      const { body, headers, status } = await berth.request("GET", `/api/v1/oauth/${endpoint}`)
      expect([status, headers.get("allow"), body], endpoint).toEqual([405, "POST, OPTIONS", {
        error: "invalid_request",
        error_description: "GET is not supported here; use POST, OPTIONS"
      }])
    }
    const jwks = await berth.request("DELETE", "/api/v1/oauth/jwks")
    expect([jwks.status, jwks.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"])
  })

  it("is shown to a browser as a page, where the path is a page's", async () => {
    const answer = await berth.request("PUT", "/oauth/sign-in", { headers: { accept: "text/html" } })
    expect([answer.status, answer.headers.get("allow"), answer.headers.get("content-type")])
      .toEqual([405, "GET, HEAD, POST, OPTIONS", expect.stringMatching(/^text\/html/)])
  })

  it("tells OPTIONS the methods, with 204 and no leave for other origins", async () => {
    for (const headers of [{}, { origin: "https://a.example", "access-control-request-method": "POST" }]) {
      const answer = await berth.request("OPTIONS", "/v1/projects", { headers })
      expect([answer.status, answer.text, answer.headers.get("allow")]).toEqual([204, "", "GET, HEAD, POST, OPTIONS"])
      expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([])
    }
  })

  it("tells nothing of what is there: only the form of a path counts", async () => {
    const owner = await berth.signUp("enterprise")
    const { id } = await owner.project()
    const [real, none] = [
      await berth.request("PUT", `/v1/projects/${id}`),
      await berth.request("PUT", "/v1/projects/x")
    ]
    expect([real.status, real.text]).toEqual([405, none.text])
    for (
      const path of ["/v1/nothing", "/v1/projects/a/b/c", "/V1/projects", "/v1/projects/%zz", "/v1/servers/x/nothing"]
    ) {
      for (const method of ["GET", "PUT", "OPTIONS", "HEAD"]) {
        expect((await owner.request(method, path)).status, `${method} ${path}`).toBe(404)
      }
    }
  })
})

describe("Expect", () => {
  const answerTo = (line: string, version = "1.1") =>
    sendRaw(berth.url, `GET /v1/health HTTP/${version}\r\nHost: x\r\nConnection: close\r\n${line}\r\n\r\n`)

  it("of anything but 100-continue is 417, with the envelope and the headers of every answer", async () => {
    for (const expect_ of ["foo", "100-continued", "200-ok; a=b"]) {
      const [head = "", body = ""] = (await answerTo(`Expect: ${expect_}`)).split("\r\n\r\n")
      expect(head.split("\r\n")[0], expect_).toBe("HTTP/1.1 417 Expectation Failed")
      for (const name of ["x-request-id", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]) {
        expect(head.toLowerCase().includes(`\r\n${name}: `), name).toBe(true)
      }
      expect(JSON.parse(body)).toEqual(failure("EXPECTATION_FAILED"))
    }
  })

  it("of 100-continue is met, and any is overlooked of HTTP/1.0, which has none (RFC 9110 §10.1.1)", async () => {
    expect(await answerTo("Expect: 100-continue")).toMatch(/HTTP\/1\.1 200 OK\r\n/)
    expect(await answerTo("Expect: foo", "1.0")).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  })

  it("is refused for hosted servers as for ours", async () => {
    const answer = await sendRaw(
      berth.url,
      "POST /s/none/mcp HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: foo\r\nContent-Length: 0\r\n\r\n"
    )
    expect(answer).toMatch(/^HTTP\/1\.1 417 /)
  })
})
