import { FastCheck as fc } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { fitsOf } from "../support/fits.ts"
import { bodyOf, runs } from "../support/fuzz.ts"
import { type Answer, type FailureBody, type Sent } from "../support/http.ts"
import { sampled } from "../support/needs.ts"
import { openApi, type Operation, operationsOf } from "../support/operations.ts"

const berth = useBerth()
let owner: Account
let operations: ReadonlyArray<Operation> = []
let ids: Readonly<Record<string, string>> = {}
let fits: ReturnType<typeof fitsOf>

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  const document = await openApi(berth)
  operations = operationsOf(document)
  fits = fitsOf(document)
  await renew()
})

/** What the requests are about; a run may have deleted it. */
const renew = async () => {
  const project = await owner.project()
  const server = await owner.server(project.id)
  await owner.post(`/v1/servers/${server.id}/env`, { name: "A", value: "b" })
  ids = { projectId: project.id, serverId: server.id, keyId: (await owner.key(project.id)).id, name: "A" }
}

const token = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("", "%zz", "%00", "%", "..", "%2e%2e", "%F0%9F%92%A9", "%ed%a0%80", "a/b", "a%2Fb", "x".repeat(5000))
)
const inPath = (text: string) => /^[\x21-\x7e]*$/.test(text) && !/[?#]/.test(text) ? text : encode(text)
const encode = (text: string) => encodeURIComponent(text.toWellFormed())

const isEnvelope = ({ headers, body }: Answer, status: number) => {
  expect(headers.get("x-request-id")).toMatch(/\S/)
  expect(headers.get("x-ratelimit-limit")).toMatch(/^\d+$/)
  if (status < 400) return
  const { error } = body as FailureBody
  expect([typeof error.code, typeof error.message]).toEqual(["string", "string"])
  expect(Object.keys(body as object)).toEqual(["error"])
}

/** Whether a path with odd texts in it is still one of the operation, as far as its slashes tell. */
const isOf = (operation: Operation, path: string) => {
  const segments = path.split("?")[0]!.split("/")
  return segments.length === operation.path.split("/").length &&
    segments.every((segment, at) => at === 0 || !["", ".", ".."].includes(segment.replaceAll(/%2e/gi, ".")))
}

const check = async (operation: Operation, path: string, sent: Sent) => {
  const { method } = operation
  // A generated text can name an image; what looks for it in a registry is not waited for.
  const headers = { prefer: "respond-async", ...sent.headers }
  const answer = await owner.request(method, path, { ...sent, headers })
  const fine = answer.status < 500
  expect(fine ? "fine" : answer.text, `${method} ${path}`).toBe("fine")
  isEnvelope(answer, answer.status)
  // A head over Node's 16 KiB is refused before it is known what it asks for.
  if (answer.status !== 431 && isOf(operation, path)) fits(operation, answer)
  return answer
}

describe("whatever is sent, nothing fails on our side", () => {
  it("any JSON body, to every operation that takes one", async () => {
    for (const operation of sampled(operations.filter(({ bodyFields }) => bodyFields !== undefined), 2)) {
      await fc.assert(
        fc.asyncProperty(bodyOf(operation.name, operation.bodyFields ?? []), async (body) => {
          const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? "x")
          await check(operation, path, { body: JSON.stringify(body) })
        }),
        runs
      )
    }
  }, 120_000)

  it("any path parameter, to every operation that has one", async () => {
    for (const operation of sampled(operations.filter(({ parameters }) => parameters.length > 0), 2)) {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.option(token, { freq: 2, nil: undefined }), { maxLength: 3 }), async (values) => {
          const given = [...values]
          const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
            const text = given.shift()
            return text === undefined ? ids[name] ?? "x" : inPath(text)
          })
          const answer = await check(operation, path, operation.bodyFields === undefined ? {} : { body: {} })
          if (operation.method === "DELETE" && answer.status === 204) await renew()
        }),
        runs
      )
    }
  }, 120_000)

  it("any query, to every operation that reads one", async () => {
    for (const operation of sampled(operations.filter(({ query }) => query.length > 0), 2)) {
      const names = fc.oneof(fc.constantFrom(...operation.query), fc.string())
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(names, token)), async (pairs) => {
          const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? "x")
          const query = pairs.map(([name, text]) => `${encode(name)}=${inPath(text)}`).join("&")
          await check(operation, `${path}?${query}`, {})
        }),
        runs
      )
    }
  }, 120_000)

  it("any header value where we read one", async () => {
    const names = ["authorization", "cookie", "idempotency-key", "x-forwarded-for", "x-request-id", "origin", "accept"]
    const text = fc.string({
      unit: fc.integer({ min: 0x20, max: 0xff }).filter((n) => n !== 0x7f).map((n) => String.fromCharCode(n))
    })
    const known = fc.constantFrom(
      "svc_session=%zz",
      "svc_session=svc_sess_x; svc_session=y",
      "Bearer svc_live_x",
      ", ,",
      "null"
    )
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), fc.oneof(text, known), async (name, value) => {
        for (const path of ["/v1/projects", "/mcp", "/v1/auth/login"]) {
          const answer = await berth.request("POST", path, { body: { name: "x" }, headers: { [name]: value } })
          expect(answer.status < 500, `${name} ${value}`).toBe(true)
        }
      }),
      runs
    )
  }, 60_000)
})
