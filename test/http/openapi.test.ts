import { Validator } from "@seriousme/openapi-schema-validator"
import { beforeAll, describe, expect, it } from "vitest"
import { readyServerBundle } from "../ready-server/bundle.ts"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { bodyFor, goodBodies } from "../support/bodies.ts"
import { fitsOf } from "../support/fits.ts"
import { sampled } from "../support/needs.ts"
import { fill, type OpenApi, openApi, type Operation, operationsOf, resolve } from "../support/operations.ts"
import { thingsInTurn } from "../support/things.ts"

const berth = useBerth({ machines: true })
let document: OpenApi
let operations: ReadonlyArray<Operation> = []
let owner: Account

beforeAll(async () => {
  // Without it a business can't be published, which is a 503.
  await readyServerBundle()
  document = await openApi(berth)
  operations = operationsOf(document)
  owner = await berth.signUp("enterprise")
})

describe("/openapi.json", () => {
  it("is compressed for whom that suits, and not sent again to whom has it", async () => {
    const plain = await berth.request("GET", "/openapi.json")
    const zipped = await fetch(`${berth.url}/openapi.json`, { headers: { "accept-encoding": "gzip" } })
    expect(await zipped.json()).toEqual(plain.body)
    expect(zipped.headers.get("content-encoding")).toBe("gzip")
    expect(Number(zipped.headers.get("content-length"))).toBeLessThan(60_000)
    expect(plain.headers.get("content-encoding")).toBeNull()
    const tags = [plain.headers.get("etag") ?? "", zipped.headers.get("etag") ?? ""]
    expect(new Set(tags).size).toBe(2)
    for (const tag of tags) {
      const again = await berth.request("GET", "/openapi.json", { headers: { "if-none-match": tag } })
      expect([again.status, again.text, again.headers.get("vary")]).toEqual([
        304,
        "",
        expect.stringMatching(/Encoding/)
      ])
    }
  })

  it("is a valid OpenAPI 3.1 document", async () => {
    const copy = JSON.parse(JSON.stringify(document)) as Record<string, unknown>
    const result = await new Validator().validate(copy)
    expect(result).toEqual({ valid: true })
    expect(document.openapi).toMatch(/^3\.1\.\d+$/)
  })

  it("has one body for all failures, whichever it is; health's 503 is a report", () => {
    const envelope = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } }
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, { responses }] of Object.entries(methods)) {
        for (const [status, response] of Object.entries(responses)) {
          if (Number(status) < 400 || (path === "/v1/health" && status === "503")) continue
          expect(resolve(document, response), `${method} ${path} ${status}`).toMatchObject({ content: envelope })
        }
      }
    }
  })

  it("says in a sentence what each failure is, and not by a name within the program", () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, { responses }] of Object.entries(methods)) {
        for (const [status, response] of Object.entries(responses)) {
          if (Number(status) < 400) continue
          const description = resolve(document, response)?.description
          expect(description, `${method} ${path} ${status}`).toMatch(/^(?!(?:[A-Z][a-z]+){2,}$|Success$)/)
        }
      }
    }
  })

  it("has the 503 of every operation of the hub, and no session's cookie where a hub key alone is enough", () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, ...operation }))
    )
    const ofHub = described.filter(({ name }) => / (\/api)?\/v1\/hub\//.test(name))
    expect(ofHub.length).toBeGreaterThan(20)
    expect(ofHub.filter(({ responses }) => !("503" in responses)).map(({ name }) => name)).toEqual([])
    expect(document.paths["/v1/hub/composites/mine"]?.["get"]).toMatchObject({
      security: [{ bearer: [] }, { cookie: [] }]
    })
  })

  it("requires a body but where none will do", () => {
    const optional = Object.entries(document.paths).filter(([, { post }]) => post?.requestBody?.required === false)
    expect(optional.map(([path]) => path).sort()).toEqual(["/api/v1/hub/api-keys", "/api/v1/hub/keys"])
  })

  it("has one binary file in an upload, as it is sent", () => {
    const upload = document.paths["/api/v1/ready/businesses/{businessId}/import"]?.["post"]?.requestBody
    expect(upload?.content["multipart/form-data"]?.schema.properties?.["file"])
      .toEqual({ type: "string", format: "binary" })
  })

  it("says what each filter of the directory, the registry and the metadata means", () => {
    const filters = {
      "/v1/directory": ["search", "category", "location", "templateType", "vertical", "city", "sort", "radius_miles"],
      "/v0.1/servers": ["search", "version"],
      "/.well-known/mcp-server-metadata": ["subdomain"]
    }
    for (const [path, names] of Object.entries(filters)) {
      const parameters = (document.paths[path]?.["get"]?.parameters ?? []) as ReadonlyArray<
        { readonly name: string; readonly description?: string }
      >
      const search = parameters.find(({ name }) => name === "search")?.description
      if (path === "/v1/directory") expect(search).toMatch(/with a typo.*relevanceScore/)
      expect(parameters.filter(({ description }) => description !== undefined).map(({ name }) => name), path).toEqual(
        names
      )
    }
  })

  it("refers to nothing that is not in it", () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? "")
    expect(references.length).toBeGreaterThan(10)
    for (const reference of new Set(references)) {
      const [root, components, kind = "", name = "", ...more] = reference.split("/")
      expect([root, components, more], reference).toEqual(["#", "components", []])
      const known = (document.components as Readonly<Record<string, object>>)[kind] ?? {}
      expect(Object.keys(known), reference).toContain(name)
    }
  })

  it("has a name, a summary and a tag for each operation, and each name once", () => {
    const described = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods)
    ) as unknown as ReadonlyArray<
      { readonly operationId: string; readonly summary: string; readonly tags: ReadonlyArray<string> }
    >
    expect(described.length).toBe(operations.length)
    for (const { operationId, summary, tags } of described) {
      expect([summary, tags], operationId).toEqual([expect.stringMatching(/^[A-Z].{5,}/), [
        expect.any(String)
      ]])
    }
    expect(new Set(described.map(({ operationId }) => operationId)).size).toBe(described.length)
  })

  it("declares for each operation what any of its kind can answer", () => {
    for (const operation of operations) {
      const expected = [429]
      if (operation.needsCredential) expected.push(401)
      if (operation.parameters.length > 0) expected.push(404)
      if (operation.query.length > 0) expected.push(400)
      if (operation.bodyFields !== undefined) expected.push(400, 413, 422)
      expect(expected.filter((status) => !operation.statuses.includes(status)), operation.name).toEqual([])
    }
  })

  it("has the 409 of a repeat that is under way wherever an Idempotency-Key is taken", () => {
    const without = operations.filter(({ method, statuses }) => method === "POST" && !statuses.includes(409))
    expect(without.map(({ path }) => path)).toEqual([])
  })

  it("tells the limits of the contract", () => {
    const text = JSON.stringify(document)
    expect(text).toContain("\"maxLength\":255")
    const create = operations.find(({ name }) => name === "POST /v1/projects/{projectId}/servers")
    const schema = document.paths[create?.path ?? ""]?.["post"]?.requestBody?.content["application/json"]?.schema
    expect(schema).toMatchObject({
      required: ["name"],
      additionalProperties: false,
      properties: {
        name: { type: "string", maxLength: 255 },
        region: { enum: ["ord", "iad", "lax", "ams", "syd"] },
        cpu: { enum: ["shared-1x", "shared-2x", "performance-1x"] },
        memoryMb: { enum: [256, 512, 1024, 2048] }
      }
    })
    expect(JSON.stringify(schema?.properties?.["autoStopSeconds"])).toMatch(/"minimum":60,"maximum":86400/)
  })

  it("is what is really answered, to the schema: successes and refusals of each operation", async () => {
    const fits = fitsOf(document)
    const next = thingsInTurn(owner)
    for (const operation of sampled(operations, 16)) {
      const ids = await next(operation)
      const account = operation.name.includes("logout") ? await berth.signUp() : owner
      const ask = (path: string, body?: unknown) => account.request(operation.method, path, { body })
      const path = fill(operation, ids)
      if (operation.bodyFields !== undefined) {
        fits(operation, await ask(path, {}))
        fits(operation, await ask(path, "{"))
        fits(operation, await ask(path, " ".repeat(1024 * 1024 + 1)))
      }
      if (operation.query.length > 0) fits(operation, await ask(`${path}?limit=0`))
      if (operation.parameters.length > 0) {
        fits(operation, await ask(fill(operation, {}), goodBodies[operation.name]))
      }
      if (operation.needsCredential) fits(operation, await berth.request(operation.method, path))
      const answer = await ask(path, operation.bodyFields === undefined ? undefined : bodyFor(operation.name, ids))
      fits(operation, answer)
      const refused = [401, 403].includes(answer.status) || answer.status >= 500
      expect(refused ? answer.text : "fine", operation.name).toBe("fine")
    }
  }, 150_000)

  it("is shown as a page that fetches nothing from elsewhere", async () => {
    const page = await berth.request("GET", "/docs")
    expect([page.status, page.headers.get("content-type")]).toEqual([200, expect.stringMatching(/^text\/html/)])
    expect(page.text).toContain("Berth")
    expect([...page.text.matchAll(/<(?:script|link|img)[^>]+(?:src|href)="(https?:)?\/\//g)]).toEqual([])
  })
})
