import { FastCheck as fc } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { failure } from "../contract/shapes.ts"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { runs } from "../support/fuzz.ts"
import { rpcOf, sessionPost, statelessPost } from "../support/stateless.ts"

const berth = useBerth()
let owner: Account

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
})

const accept = "application/json, text/event-stream"

interface RpcError {
  readonly jsonrpc: string
  readonly id: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

const post = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  owner.request("POST", "/mcp", {
    body: typeof body === "string" ? body : JSON.stringify(body),
    headers: { accept, ...headers }
  })

/** The message of an answer, whether it is the body or came as an event. */
const messageOf = ({ text }: { readonly text: string }) =>
  JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) as RpcError

const call = (params: unknown) => ({ jsonrpc: "2.0", id: 1, method: "tools/call", params })

describe("what is no JSON-RPC message", () => {
  it("is 400 with the protocol's code and a sentence, and the id when there is one", async () => {
    const wrong: ReadonlyArray<readonly [unknown, number, unknown, string]> = [
      ["{", -32700, null, "The body is not valid JSON"],
      ["", -32700, null, "The body is empty"],
      ["null", -32600, null, "A message must be an object"],
      ["7", -32600, null, "A message must be an object"],
      [{}, -32600, null, "jsonrpc must be \"2.0\""],
      [{ jsonrpc: "1.0", id: 4, method: "ping" }, -32600, 4, "jsonrpc must be \"2.0\""],
      [{ jsonrpc: "2.0", id: 1 }, -32600, 1, "method is required"],
      [{ jsonrpc: "2.0", id: "a", method: 7 }, -32600, "a", "method must be a string"],
      [{ jsonrpc: "2.0", id: null, method: "ping" }, -32600, null, "id must be a string or an integer"],
      [{ jsonrpc: "2.0", id: 1.5, method: "ping" }, -32600, null, "id must be a string or an integer"],
      [{ jsonrpc: "2.0", id: {}, method: "ping" }, -32600, null, "id must be a string or an integer"],
      [{ jsonrpc: "2.0", id: 2, method: "ping", params: "x" }, -32600, 2, "params must be an object"],
      [{ jsonrpc: "2.0", id: 2, method: "ping", params: [1] }, -32600, 2, "params must be an object"],
      [{ jsonrpc: "2.0", id: 2, method: "ping", extra: 1 }, -32600, 2, expect.stringMatching(/member/) as string],
      [{ jsonrpc: "2.0", id: 2, result: 7 }, -32600, 2, "The response is malformed"],
      [[], -32600, null, "A batch must not be empty"],
      [
        [{ jsonrpc: "2.0", id: 1, method: "ping" }, 7],
        -32600,
        null,
        "Message 2 of the batch: A message must be an object"
      ],
      // Each would count as one in rates and quotas, whatever it holds.
      [
        [1, 2].map((id) => ({ jsonrpc: "2.0", id, method: "ping" })),
        -32600,
        null,
        "A batch may hold one request: send each in an HTTP request of its own"
      ]
    ]
    for (const [body, code, id, message] of wrong) {
      const answer = await post(body)
      expect([answer.status, answer.body], JSON.stringify(body)).toEqual([400, {
        jsonrpc: "2.0",
        id,
        error: { code, message }
      }])
      expect(answer.headers.get("x-request-id")).toMatch(/\S/)
    }
  })

  it("does not stop a batch of good messages, which older revisions have, with one request in it", async () => {
    const initialized = { jsonrpc: "2.0", method: "notifications/initialized" }
    const answer = await post([initialized, { jsonrpc: "2.0", id: 1, method: "ping" }])
    expect([answer.status, answer.text.match(/"result":\{\}/g)?.length]).toEqual([200, 1])
  })
})

describe("a request whose parameters do not fit its method", () => {
  it("is -32602 and told in a sentence", async () => {
    const wrong: ReadonlyArray<readonly [string, unknown, string]> = [
      ["tools/call", { name: "get_server", arguments: [1] }, "params.arguments must be an object"],
      ["tools/call", { name: "get_server", arguments: "x" }, "params.arguments must be an object"],
      ["tools/call", { name: "get_server", arguments: null }, "params.arguments must be an object"],
      ["tools/call", { name: 7 }, "params.name must be a string"],
      ["tools/call", {}, "params.name is required"],
      ["tools/call", undefined, "params is required"],
      ["tools/call", { name: "nope" }, "There is no tool nope. find_tools finds one by what it does."],
      ["tools/list", { cursor: 7 }, "params.cursor must be a string"],
      ["tools/list", { cursor: "eA==" }, "params.cursor: the list has one page; leave the cursor out"],
      ["initialize", {}, "params.protocolVersion is required"],
      ["resources/read", { uri: 7 }, "params.uri must be a string"],
      [
        "prompts/get",
        { name: "deploy_server", arguments: { imageUri: 7 } },
        "params.arguments.imageUri must be a string"
      ]
    ]
    for (const [method, params, message] of wrong) {
      const answer = await post({ jsonrpc: "2.0", id: 9, method, params })
      const { error, id } = messageOf(answer)
      expect([id, error?.code], `${method} ${JSON.stringify(params)}`).toEqual([9, -32602])
      expect(error?.message).toMatch(new RegExp(`${message.replaceAll(".", "\\.")}$`))
    }
  })

  it("is a list with a cursor that no page has given, in either era", async () => {
    for (const method of ["tools/list", "prompts/list", "resources/list", "resources/templates/list", "skills/list"]) {
      for (const post of [sessionPost, statelessPost]) {
        const ask = async (params: Readonly<Record<string, unknown>>) =>
          rpcOf(await owner.request("POST", "/mcp", post({ method, params })))
        expect((await ask({ cursor: "eA==" })).error, method).toMatchObject({
          code: -32602,
          message: expect.stringMatching(/cursor: the list has one page/)
        })
        expect((await ask({})).error, method).toBe(undefined)
      }
    }
  })

  it("has no argument __proto__, in either era, as a body over HTTP has no such field", async () => {
    const args = JSON.parse("{\"projectId\":\"x\",\"name\":\"y\",\"__proto__\":{\"name\":\"z\"}}") as object
    const answer = await owner.request("PATCH", "/v1/projects/x", { body: "{\"name\":\"y\",\"__proto__\":1}" })
    expect(answer.body).toMatchObject({ error: { code: "VALIDATION_ERROR" } })
    for (const post of [sessionPost, statelessPost]) {
      const sent = post({ method: "tools/call", params: { name: "update_project", arguments: args } })
      const { result } = rpcOf(await owner.request("POST", "/mcp", sent))
      expect(JSON.stringify(result)).toContain("__proto__: is not a known field")
    }
  })

  it("is answered as if it asked for no task, which we have none of (MCP 2025-11-25, tasks)", async () => {
    const answer = await post(call({ name: "list_projects", arguments: {}, task: { ttl: 1000 } }))
    expect(messageOf(answer)).toMatchObject({ id: 1, result: { structuredContent: { data: expect.any(Array) } } })
  })

  it("is never -32603, whatever is sent", async () => {
    const method = fc.constantFrom(
      "tools/call",
      "tools/list",
      "initialize",
      "ping",
      "resources/read",
      "resources/templates/list",
      "skills/list",
      "skills/get",
      "prompts/get",
      "x"
    )
    const name = fc.constantFrom<unknown>("get_project", "deploy_server", "skill://berth/none", 7, null)
    const params = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.record({ name, uri: name, arguments: fc.jsonValue(), _meta: fc.jsonValue(), task: fc.jsonValue() }, {
        requiredKeys: []
      })
    )
    const message = fc.record({
      jsonrpc: fc.constantFrom<unknown>("2.0", "2.0", "2.0", 2),
      id: fc.oneof({ weight: 5, arbitrary: fc.nat() }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) }),
      method,
      params
    }, { requiredKeys: ["jsonrpc", "id"] })
    await fc.assert(
      fc.asyncProperty(
        fc.oneof({ weight: 9, arbitrary: message }, { weight: 1, arbitrary: fc.jsonValue() }),
        async (sent) => {
          const answer = await post(sent)
          expect(answer.status).toBeLessThan(500)
          expect(answer.text).not.toMatch(/-32603|INTERNAL_ERROR|invalid_type|\bZod/)
        }
      ),
      { ...runs, numRuns: runs.numRuns * 5 }
    )
  }, 60_000)
})

describe("whoever sends it", () => {
  it("is asked for a credential before the body is looked at", async () => {
    const types = ["application/x-www-form-urlencoded", "text/plain", "", "application/json"]
    for (const path of ["/mcp", "/message?sessionId=x"]) {
      for (const type of types) {
        for (const body of ["a=b", "{", ""]) {
          const sent = { body, headers: { accept, "content-type": type } }
          const stranger = await berth.request("POST", path, sent)
          expect([stranger.status, stranger.body], `${path} ${type} ${body}`).toEqual([401, failure("UNAUTHORIZED")])
          expect(stranger.headers.get("www-authenticate")).toMatch(/^Bearer /)
        }
      }
    }
    for (const type of types.slice(0, 3)) {
      const answer = await post("a=b", { "content-type": type })
      const message = "The body must be JSON (Content-Type: application/json)"
      expect([answer.status, answer.body], type).toEqual([400, {
        jsonrpc: "2.0",
        id: null,
        error: { code: -32_700, message }
      }])
    }
  })

  it("is told that a session of /message is not there, by the id of its request", async () => {
    const ping = { jsonrpc: "2.0", id: "p", method: "ping" }
    const answer = await owner.request("POST", "/message?sessionId=x", { body: ping })
    expect([answer.status, answer.headers.get("content-type"), answer.body]).toEqual([404, "application/json", {
      jsonrpc: "2.0",
      id: "p",
      error: { code: -32_001, message: expect.stringContaining("Session not found"), data: { code: "NOT_FOUND" } }
    }])
  })
})
