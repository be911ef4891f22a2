import { beforeAll, describe, expect, it } from "vitest"
import { readyServerBundle } from "../ready-server/bundle.ts"
import { type Account, type Holder } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { goodBodies } from "../support/bodies.ts"
import { hubKey } from "../support/composites.ts"
import { type FailureBody } from "../support/http.ts"
import { sampled } from "../support/needs.ts"
import { fill, openApi, type Operation, operationsOf } from "../support/operations.ts"
import { inPlainWords, oddValues } from "../support/plain-words.ts"

const berth = useBerth()
let owner: Account
let agent: Holder
let operations: ReadonlyArray<Operation> = []

beforeAll(async () => {
  // Without it a business can't be published, which is a 503.
  await readyServerBundle()
  owner = await berth.signUp("enterprise")
  agent = await hubKey(berth, owner)
  operations = operationsOf(await openApi(berth))
})

/** Nothing is there, so that what is right by chance does nothing. */
const send = (operation: Operation, body: unknown) =>
  owner.request<FailureBody>(operation.method, fill(operation, { name: "A" }), { body: JSON.stringify(body) })

/** The issues of a body, told in plain words; none when it was taken. */
const issuesFor = async (operation: Operation, body: unknown) => {
  const answer = await send(operation, body)
  const about = [operation.name, JSON.stringify(body).slice(0, 200)]
  expect([...about, answer.status < 500]).toEqual([...about, true])
  return answer.status === 422 ? inPlainWords(about, answer.body) : []
}

const withBody = () => operations.filter(({ bodyFields }) => bodyFields !== undefined)

describe("what is wrong with a body is told in plain words", () => {
  it("whatever is sent for each field of each operation", async () => {
    for (const operation of sampled(withBody(), 8)) {
      const fields = operation.bodyFields ?? []
      // All of a body at once: each is told of its own (test/http/bodies.test.ts).
      const told: Array<string> = []
      for (const value of oddValues) {
        const odd = Object.fromEntries(fields.map((field) => [field, value]))
        const issues = await issuesFor(operation, { ...goodBodies[operation.name], ...odd })
        told.push(...new Set(issues.map(({ path }) => path.split(".")[0]!)))
      }
      for (const field of fields) {
        expect(told.filter((name) => name === field).length > 5, `${operation.name} ${field}`).toBe(true)
      }
    }
  }, 120_000)

  it("when fields are missing, unknown, or the whole is something else", async () => {
    for (const operation of sampled(withBody(), 8)) {
      const good = goodBodies[operation.name] ?? {}
      for (const value of [null, true, 7, "x", [], [good]]) {
        expect(await issuesFor(operation, value)).toEqual([{ path: "", message: "must be an object" }])
      }
      expect(await issuesFor(operation, { ...good, extra: 1 }))
        .toContainEqual({ path: "extra", message: "is not a known field" })
      for (const { message, path } of await issuesFor(operation, {})) {
        expect(message, `${operation.name} ${path}`).toEqual(
          expect.stringMatching(/^(is required|at least one field is required)$/)
        )
      }
    }
  }, 60_000)

  it("within objects and lists too", async () => {
    const auth = withBody().find(({ name }) => name === "PUT /v1/servers/{serverId}/auth")!
    const good = goodBodies[auth.name] as { readonly byoaConfig: Readonly<Record<string, unknown>> }
    for (const field of Object.keys(good.byoaConfig)) {
      for (const value of oddValues) {
        const [issue] = await issuesFor(auth, { ...good, byoaConfig: { ...good.byoaConfig, [field]: value } })
        expect(issue).toEqual({ path: `byoaConfig.${field}`, message: expect.stringMatching(/^must /) })
      }
    }
    for (const value of oddValues) {
      const [issue] = await issuesFor(auth, { ...good, allowedEmails: ["a@example.com", value] })
      expect(issue).toEqual({ path: "allowedEmails.1", message: expect.stringMatching(/^must /) })
    }
  }, 60_000)

  it("as people would say it", async () => {
    const find = (name: string) => withBody().find((operation) => operation.name === name)!
    const create = find("POST /v1/projects/{projectId}/servers")
    const said: ReadonlyArray<readonly [Operation, string, unknown, string]> = [
      [create, "name", 7, "must be a string"],
      [create, "name", "x".repeat(256), "must be at most 255 characters"],
      [create, "region", "fra", "must be one of ord, iad, lax, ams, syd"],
      [create, "region", null, "must be one of ord, iad, lax, ams, syd"],
      [create, "memoryMb", "256", "must be one of 256, 512, 1024, 2048"],
      [create, "autoStopSeconds", 59, "must be an integer between 60 and 86400, or null"],
      [create, "autoStopSeconds", "x", "must be an integer between 60 and 86400, or null"],
      [create, "healthTimeoutSeconds", 1.5, "must be an integer between 1 and 300"],
      [find("PATCH /v1/servers/{serverId}"), "rollbackOnHealthCheckFailure", 1, "must be true or false"],
      [find("POST /v1/servers/{serverId}/rollback"), "version", 0, "must be an integer of at least 1"],
      [find("PUT /v1/servers/{serverId}/auth"), "byoaConfig", null, "must be an object"],
      [find("PUT /v1/servers/{serverId}/auth"), "allowedEmails", "x", "must be an array"]
    ]
    for (const [operation, field, value, message] of said) {
      expect(await issuesFor(operation, { ...goodBodies[operation.name], [field]: value }))
        .toEqual([{ path: field, message }])
    }
  })
})

describe("what is wrong with a query is told in plain words", () => {
  it("whatever is sent for each parameter of each operation", async () => {
    const texts = ["", "x", "0", "-1", "1.5", "1e9", "NaN", "%00", "null", "x".repeat(2_000)]
    for (const operation of sampled(operations.filter(({ query }) => query.length > 0), 3)) {
      const holder = operation.path.startsWith("/v1/hub/composites") ? agent : owner
      for (const name of operation.query) {
        const refused: Array<string> = []
        for (const query of [...texts.map((text) => `${name}=${text}`), `${name}=1&${name}=2`]) {
          const answer = await holder.get<FailureBody>(`${fill(operation, {})}?${query}`)
          if (answer.status !== 400) continue
          inPlainWords([operation.name, query], answer.body)
          refused.push(query)
        }
        expect(refused.length > 0, `${operation.name} ${name}`).toBe(true)
      }
    }
    const { body } = await owner.get<FailureBody>("/v1/projects?limit=x")
    expect(body.error.details?.issues).toEqual([{ path: "limit", message: "must be an integer between 1 and 100" }])
    expect(body.error.message).toBe("limit: must be an integer between 1 and 100")
  }, 60_000)

  it("and a path that has nothing is told by its method", async () => {
    const { body } = await owner.get<FailureBody>("/%zz/nothing")
    expect(body.error.message).toBe("There is nothing at this path")
  })
})

describe("a length", () => {
  it("is counted in characters as Unicode has them: an emoji is one", async () => {
    const post = (name: string) => owner.request<FailureBody>("POST", "/v1/projects", { body: { name } })
    expect((await post("💡".repeat(255))).status).toBe(201)
    expect((await post("💡".repeat(256))).body.error.details?.issues)
      .toEqual([{ path: "name", message: "must be at most 255 characters" }])
    expect((await post(`${"x".repeat(254)}💡`)).status).toBe(201)
    expect((await post(`${"x".repeat(255)}💡`)).status).toBe(422)
    const signUp = (password: string) =>
      berth.request("POST", "/v1/auth/signup", { body: { email: `${crypto.randomUUID()}@example.com`, password } })
    expect([(await signUp("💡".repeat(9))).status, (await signUp("💡".repeat(10))).status]).toEqual([422, 201])
  })
})
