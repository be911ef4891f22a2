import { once } from "node:events"
import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { beforeAll, describe, expect, it } from "vitest"
import { failure, invalid } from "../contract/shapes.ts"
import { type Account, type Project, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { bodyFor, freeFields, goodBodies } from "../support/bodies.ts"
import { newBusiness } from "../support/business.ts"
import { newCategory, newItem } from "../support/catalog.ts"
import { compose } from "../support/composites.ts"
import { freshAddress } from "../support/http.ts"
import { sampled } from "../support/needs.ts"
import { fill, openApi, type Operation, operationsOf, speaksLowerCase } from "../support/operations.ts"

const berth = useBerth()
let owner: Account
let project: Project
let server: Server
let ids: Readonly<Record<string, string>> = {}
let withBody: ReadonlyArray<Operation> = []

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  project = await owner.project()
  server = await owner.server(project.id)
  const { id: businessId, listingId } = await newBusiness(owner, { projectId: project.id })
  const [item, category] = [await newItem(owner, businessId), await newCategory(owner, businessId)]
  const compositeId = (await compose(owner)).id
  const inCatalog = { itemId: item.id, categoryId: category.id }
  ids = { projectId: project.id, serverId: server.id, name: "A", businessId, listingId, compositeId, ...inCatalog }
  withBody = operationsOf(await openApi(berth)).filter(({ bodyFields }) => bodyFields !== undefined)
})

const pathOf = (operation: Operation) => fill(operation, ids)

/** The failure as the operation words it: some paths speak lower-case codes. */
const worded = ({ path }: Operation, { error }: ReturnType<typeof failure>) => ({
  error: { ...error, code: speaksLowerCase(path) ? error.code.toLowerCase() : error.code }
})
const post = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  owner.request<{ data: Project }>("POST", "/v1/projects", { body, headers })

describe("a body", () => {
  it("of every operation has an example in these tests", () => {
    expect(Object.keys(goodBodies)).toEqual(expect.arrayContaining(withBody.map(({ name }) => name)))
  })

  it("in a coding that is not decoded is 415, wherever bodies are read, and has changed nothing", async () => {
    const coded = { "content-encoding": "gzip" }
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" }
    const accept = "application/json, text/event-stream"
    const form = { "content-type": "application/x-www-form-urlencoded" }
    const rooms = [
      ["POST", "/v1/projects", { name: "Coded" }, {}],
      ["POST", "/mcp", list, { accept }],
      ["POST", "/mcp/directory", list, { accept }],
      ["POST", "/api/v1/oauth/token", "grant_type=x", form],
      ["POST", "/sign-in", "email=x", form]
    ] as const
    for (const [method, path, body, headers] of rooms) {
      for (const coding of ["gzip", "identity, br", "x\"y"]) {
        const answer = await owner.request(method, path, { body, headers: { ...headers, "content-encoding": coding } })
        expect([answer.status, answer.headers.get("accept-encoding")], path).toEqual([415, "identity"])
        expect(answer.text, path).toContain("Content-Encoding")
      }
    }
    expect((await post({ name: "Coded" }, coded)).body).toEqual(failure("UNSUPPORTED_MEDIA_TYPE"))
    expect((await owner.get<{ data: ReadonlyArray<Project> }>("/v1/projects")).text).not.toContain("Coded")
    for (const coding of ["identity", "Identity", ""]) {
      expect((await post({ name: "Plain" }, { "content-encoding": coding })).status, coding).toBe(201)
    }
    const stranger = await berth.request("POST", "/mcp", { body: list, headers: { accept, ...coded } })
    expect(stranger.status).toBe(401)
  })

  it("that is no JSON is 400, on every operation", async () => {
    for (const operation of sampled(withBody, 3, 1)) {
      for (const body of ["{", "{\"a\":}", "{'a':1}", "nul", "{}{}", "\ufeff{}x", "[1,]"]) {
        const answer = await owner.request(operation.method, pathOf(operation), { body })
        expect([answer.status, answer.body], `${operation.name} ${body}`).toEqual([
          400,
          worded(operation, failure("BAD_REQUEST"))
        ])
      }
    }
  })

  it("that is no object is 422, on every operation", async () => {
    for (const operation of sampled(withBody, 3, 2)) {
      for (const body of ["null", "true", "7", "\"text\"", "[]", "[{}]"]) {
        const answer = await owner.request(operation.method, pathOf(operation), { body })
        expect([answer.status, answer.body], `${operation.name} ${body}`).toEqual([422, worded(operation, invalid(""))])
      }
    }
  })

  it("that is not there, or empty, is 400 and says so, on every operation, those with no required field too", async () => {
    const said = expect.stringMatching(/^The body is empty/)
    const needed = withBody.filter(({ path }) => !/\/hub\/(api-)?keys$/.test(path))
    for (const operation of sampled(needed, 3, 3)) {
      const chunked = { "transfer-encoding": "chunked", "content-type": "application/json" }
      for (const sent of [{}, { body: "" }, { body: "  \n" }, { headers: chunked }]) {
        const answer = await owner.request(operation.method, pathOf(operation), sent)
        const { error } = worded(operation, failure("BAD_REQUEST"))
        expect([answer.status, answer.body], `${operation.name} ${JSON.stringify(sent)}`).toEqual([400, {
          error: { ...error, message: said }
        }])
      }
    }
  })

  it("that is not there is not missed where none is taken", async () => {
    const made = await owner.server(project.id)
    expect((await owner.request("POST", `/v1/servers/${made.id}/test-token`)).status).toBe(201)
    expect((await owner.request("DELETE", `/v1/servers/${made.id}`)).status).toBe(204)
  })

  it("for an operation that takes none is {} or nothing; a field in it is 422, where it would be overlooked", async () => {
    const operations = operationsOf(await openApi(berth))
      .filter(({ bodyFields, method, name }) =>
        method === "POST" && bodyFields === undefined && !/\/(import|capability-doc)$/.test(name)
      )
    expect(operations.length).toBeGreaterThan(7)
    for (const operation of operations) {
      const ask = async (body: unknown) => {
        const account = operation.path.endsWith("logout") ? await berth.signUp() : owner
        return account.request(operation.method, pathOf(operation), { body })
      }
      expect((await ask({ junk: 1 })).body, operation.name).toEqual(worded(operation, invalid("junk")))
      for (const body of ["[]", "7", "null", "\"text\""]) {
        expect((await ask(body)).body, `${operation.name} ${body}`).toEqual(worded(operation, invalid("")))
      }
      expect((await ask("{")).body, operation.name).toEqual(worded(operation, failure("BAD_REQUEST")))
      expect([400, 422].includes((await ask({})).status), operation.name).toBe(false)
    }
    const stranger = await berth.request("POST", `/v1/servers/${server.id}/start`, { body: { junk: 1 } })
    expect(stranger.status).toBe(401)
  })

  it("that changes nothing is 422, on every operation that changes fields", async () => {
    const changing = withBody.filter(({ method }) => method === "PATCH")
    expect(changing.length).toBeGreaterThan(5)
    for (const operation of changing) {
      const answer = await owner.request(operation.method, pathOf(operation), { body: {} })
      const issues = [{ path: expect.any(String), message: expect.stringMatching(/required/) }]
      expect([answer.status, answer.body], operation.name).toEqual([
        422,
        worded(operation, failure("VALIDATION_ERROR", { issues }))
      ])
    }
  })

  it("with an unknown field is 422 that names it, on every operation", async () => {
    for (const operation of sampled(withBody, 3, 4)) {
      for (const field of ["extra", "__proto__", "constructor", "id", "accountId", "NAME"]) {
        const good = JSON.stringify(bodyFor(operation.name, ids))
        const body = `${good.slice(0, -1)},${JSON.stringify(field)}:{"a":1}}`
        const answer = await owner.request(operation.method, pathOf(operation), { body })
        expect([answer.status, answer.body], `${operation.name} ${field}`).toEqual([
          422,
          worded(operation, invalid(field))
        ])
      }
    }
  })

  it("with fields of a wrong type is 422 that names each of them, on every operation", async () => {
    for (const operation of sampled(withBody, 3, 5)) {
      const fields = (operation.bodyFields ?? []).filter((name) => !freeFields.has(name))
      const wrong = Object.fromEntries(fields.map((name) => [name, { wrong: true }]))
      const answer = await owner.request<{ error: { details: { issues: ReadonlyArray<{ path: string }> } } }>(
        operation.method,
        pathOf(operation),
        { body: wrong }
      )
      expect(answer.status, operation.name).toBe(422)
      const named = new Set(answer.body.error.details.issues.map(({ path }) => path.split(".")[0]))
      expect([...named].sort(), operation.name).toEqual([...fields].sort())
    }
  })

  it("counts a name in characters: 255 fit and 256 do not, on every operation that has a free name", async () => {
    for (const operation of sampled(withBody, 3, 6)) {
      if (!(operation.bodyFields ?? []).includes("name") || /\/(env|publish|registries)$/.test(operation.name)) continue
      const good = { ...bodyFor(operation.name, ids), name: "x".repeat(256) }
      const answer = await owner.request(operation.method, pathOf(operation), { body: good })
      expect([answer.status, answer.body], operation.name).toEqual([422, worded(operation, invalid("name"))])
      const email = operation.name.endsWith("signup") ? { email: `${"a".repeat(200)}@example.com` } : {}
      const fits = await owner.request(operation.method, pathOf(operation), {
        // Of categories each name is there once.
        body: { ...good, ...email, name: (operation.method === "POST" ? "x" : "y").repeat(255) }
      })
      expect(fits.status < 300 ? "fits" : fits.text, operation.name).toBe("fits")
    }
  })

  it("with NUL or half a surrogate pair in any text is 422, never stored", async () => {
    for (const bad of ["a\u0000b", "\ud800", "\udc00x", "ok \ud83d"]) {
      for (const operation of sampled(withBody, 3, 7)) {
        const good = bodyFor(operation.name, ids)
        for (const [field, sample] of Object.entries(good)) {
          if (typeof sample !== "string") continue
          const answer = await owner.request(operation.method, pathOf(operation), { body: { ...good, [field]: bad } })
          expect([answer.status, answer.body], operation.name).toEqual([422, worded(operation, invalid(field))])
        }
      }
    }
  })

  it("keeps any other text to the letter: right-to-left, emoji, combining marks, quotes", async () => {
    const texts = [
      "مرحبا",
      "\u202eevil",
      "👩‍👩‍👧‍👦",
      "Z̸̢a̷l̴g̶o̸",
      "Robert'); DROP TABLE projects;--",
      "<script>",
      "é",
      "é",
      "${x}"
    ]
    for (const name of texts) {
      const answer = await post({ name })
      expect([answer.status, answer.body.data.name]).toEqual([201, name])
      expect((await owner.get<{ data: Project }>(`/v1/projects/${answer.body.data.id}`)).body.data.name).toBe(name)
    }
  })

  it("of two million spaces, deep nesting or a long key is refused quickly and in one piece", async () => {
    const deep = `{"name":${"[".repeat(100_000)}${"]".repeat(100_000)}}`
    const bodies: ReadonlyArray<readonly [string, number]> = [
      [`{"name":"${" ".repeat(1_000_000)}"}`, 422],
      [`${" ".repeat(900_000)}{}`, 422],
      [" ".repeat(2_000_000), 413],
      [deep, 400],
      [`{"name":${"[".repeat(500)}${"]".repeat(500)}}`, 400],
      [`{"name":${"[".repeat(90)}${"]".repeat(90)}}`, 422],
      [`{"name":"${"[".repeat(200)}"}`, 201],
      [`{${JSON.stringify("k".repeat(500_000))}:1}`, 422],
      [JSON.stringify(Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`field${n}`, n]))), 422],
      [`{"name":"x","name":${"1".repeat(900_000)}}`, 422],
      [`{"name":${"9".repeat(400)}}`, 422]
    ]
    for (const [body, status] of bodies) {
      const started = performance.now()
      const answer = await post(body)
      expect(answer.status, body.slice(0, 20)).toEqual(status)
      expect(performance.now() - started).toBeLessThan(20_000)
      expect(answer.text.length).toBeLessThan(12_000)
    }
  })

  it("of nine thousand faults is refused quickly, with the first of them", async () => {
    const many = Array.from({ length: 9_000 }, () => "x")
    const sent: ReadonlyArray<readonly [string, string, object, string]> = [
      ["POST", `/v1/projects/${project.id}/keys`, { name: "x", scopes: many }, "scopes.0"],
      ["PUT", `/v1/servers/${server.id}/auth`, { authMode: "service_managed", allowedEmails: many }, "allowedEmails.0"]
    ]
    for (const [method, path, body, issue] of sent) {
      const started = performance.now()
      const answer = await owner.request(method, path, { body })
      expect([answer.status, answer.body]).toMatchObject([422, {
        error: { details: { issues: expect.arrayContaining([{ path: issue, message: expect.any(String) }]) } }
      }])
      expect(performance.now() - started).toBeLessThan(1_000)
    }
  })

  it("of more fields or values than anybody needs is 400 before it is parsed, without a credential as well", async () => {
    const fields = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":1`).join(",")
    const values = (count: number) => `[${"0,".repeat(count - 1)}0]`
    const call = (params: string) =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_business",${params}}}`
    const [tooManyFields, tooManyValues] = ["an object of more than 1000 fields", "more than 10000 values"]
    const sent: ReadonlyArray<readonly [string, string, string]> = [
      ["/v1/auth/login", `{${fields(1_001)}}`, tooManyFields],
      ["/v1/auth/login", `{"email":${values(10_000)}}`, tooManyValues],
      ["/v1/hub/composites", `{"name":"x","query_definition":{${fields(1_001)}}}`, tooManyFields],
      ["/mcp/directory", call(`"arguments":{"slug":"x",${fields(1_000)}}`), tooManyFields],
      ["/mcp/directory", call(`"_meta":{${fields(1_001)}}`), tooManyFields],
      ["/mcp/directory", call(fields(1_000)), tooManyFields],
      ["/mcp/directory", call(`"arguments":{"slug":${values(10_000)}}`), tooManyValues],
      ["/mcp", call(`"arguments":{${fields(1_001)}}`), tooManyFields]
    ]
    const isAnonymous = (path: string) => path === "/v1/auth/login" || path === "/mcp/directory"
    const answerTo = async (path: string, body: string) => {
      const accept = "application/json, text/event-stream"
      const headers = { "content-type": "application/json", accept, "x-forwarded-for": freshAddress() }
      const credential = isAnonymous(path) ? {} : { authorization: `Bearer ${owner.token}` }
      const answer = await fetch(`${berth.url}${path}`, {
        method: "POST",
        headers: { ...headers, ...credential },
        body
      })
      return [answer.status, await answer.text()] as const
    }
    for (const [path, body, words] of sent) {
      const [status, text] = await answerTo(path, body)
      expect([status, JSON.parse(text)], `${path} ${body.slice(0, 120)}`).toMatchObject([400, {
        error: {
          code: path.startsWith("/mcp") ? -32700 : expect.stringMatching(/^bad_request$/i) as string,
          message: `The body has ${words}`
        }
      }])
    }
    expect(await answerTo("/v1/auth/login", `{"email":${values(8_999)},${fields(999)}}`)).toEqual([
      422,
      expect.any(String)
    ])
  })

  it("takes numbers as JSON has them: 1e2 is a whole number, 1e400 is out of range", async () => {
    const raw = (autoStopSeconds: string) =>
      owner.request("POST", `/v1/projects/${project.id}/servers`, {
        body: `{"name":"x","autoStopSeconds":${autoStopSeconds}}`
      })
    expect((await raw("1e2")).body).toMatchObject({ data: { autoStopSeconds: 100 } })
    expect((await raw("300.0")).body).toMatchObject({ data: { autoStopSeconds: 300 } })
    for (const number of ["1e400", "-1e400", "300.0001", "-0"]) {
      expect((await raw(number)).body, number).toEqual(invalid("autoStopSeconds"))
    }
  })

  it("of another content type is 400, so that no form of elsewhere can post it", async () => {
    const types = [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "text/json",
      ""
    ]
    for (const type of [...types, "application/jsonx", "application/octet-stream"]) {
      const answer = await post("{\"name\":\"x\"}", { "content-type": type })
      expect([answer.status, answer.body], type).toEqual([400, failure("BAD_REQUEST")])
    }
    for (const type of ["application/json; charset=utf-8", "Application/JSON", "application/vnd.x+json"]) {
      expect((await post("{\"name\":\"x\"}", { "content-type": type })).status, type).toBe(201)
    }
  })

  it("in another charset than UTF-8 is 400 and says so, whatever its bytes are", async () => {
    for (const charset of ["utf-16", "UTF-16LE", "iso-8859-1", "\"utf-32\"", "x".repeat(5_000)]) {
      const answer = await post("{\"name\":\"x\"}", { "content-type": `application/json; charset=${charset}` })
      expect([answer.status, answer.body], charset).toMatchObject([400, {
        error: { code: "BAD_REQUEST", message: expect.stringMatching(/^The body must be JSON in UTF-8, not .{1,40}$/) }
      }])
    }
    for (const parameters of ["; charset=utf-8", ";charset=\"UTF-8\"", "; charset=us-ascii", "; version=1"]) {
      const answer = await post("{\"name\":\"x\"}", { "content-type": `application/json${parameters}` })
      expect(answer.status, parameters).toBe(201)
    }
  })

  it("with bytes that are no UTF-8 is not stored broken", async () => {
    const body = Buffer.concat([Buffer.from("{\"name\":\"a"), Buffer.from([0xff, 0xfe]), Buffer.from("\"}")])
    const answer = await post(body)
    expect(answer.status).toBe(400)
  })

  it("on a request that takes none is not looked at", async () => {
    const answer = await owner.request("DELETE", `/v1/projects/${(await owner.project()).id}`, { body: {} })
    expect(answer.status).toBe(204)
  })
})

describe("a body over the limit of 1 MiB", () => {
  const head = (rest: string) =>
    `POST /v1/projects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${owner.token}\r\n` +
    `Content-Type: application/json\r\nX-Forwarded-For: ${freshAddress()}\r\n${rest}\r\n\r\n`

  it("by its Content-Length is 413, and the sender hears it before it has sent a byte", async () => {
    const { hostname, port } = new URL(berth.url)
    const socket = connect(Number(port), hostname).setEncoding("utf8")
    socket.write(head("Content-Length: 104857600"))
    let answer = ""
    while (!answer.endsWith("}}")) answer += String((await once(socket, "data"))[0])
    socket.destroy()
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
    expect(answer).toContain("\"PAYLOAD_TOO_LARGE\"")
  })

  it("is 413 for a sender that only listens when all is sent", async () => {
    const answer = await post(Buffer.alloc(20 * 1024 * 1024, 0x20))
    expect([answer.status, answer.body]).toEqual([413, failure("PAYLOAD_TOO_LARGE")])
    expect(answer.headers.get("connection")).toBe("close")
  })

  it("in chunks is 413 as soon as it is over, and a sender without end is cut off", async () => {
    const { hostname, port } = new URL(berth.url)
    const socket = connect(Number(port), hostname)
    socket.on("error", () => undefined)
    const received = text(socket)
    socket.write(head("Transfer-Encoding: chunked"))
    const chunk = `100000\r\n${"x".repeat(1024 * 1024)}\r\n`
    let sent = 0
    while (!socket.destroyed && sent < 200) {
      sent++
      if (!socket.write(chunk)) await Promise.race([new Promise((drained) => socket.once("drain", drained)), received])
    }
    const answer = await received
    expect(sent).toBeLessThan(100)
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
    expect(answer).toContain("\"PAYLOAD_TOO_LARGE\"")
  })

  it("is for a body of exactly 1 MiB not there yet", async () => {
    const body = `{"name":"x"${" ".repeat(1024 * 1024 - 12)}}`
    expect(Buffer.byteLength(body)).toBe(1024 * 1024)
    expect((await post(body)).status).toBe(201)
    expect((await post(`${body} `)).status).toBe(413)
  })

  it("that is cut off half-way stores nothing", async () => {
    const before = await owner.get<{ meta: { total: number } }>("/v1/projects")
    const { hostname, port } = new URL(berth.url)
    const socket = connect(Number(port), hostname)
    socket.on("error", () => undefined)
    socket.end(`${head("Content-Length: 100")}{"name":"half"}`)
    await text(socket)
    expect((await owner.get<{ meta: { total: number } }>("/v1/projects")).body.meta).toEqual(
      expect.objectContaining({ total: before.body.meta.total })
    )
  })
})
