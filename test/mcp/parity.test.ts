import { type Client } from "@modelcontextprotocol/sdk/client/index.js"
import { readdirSync, readFileSync } from "node:fs"
import { beforeAll, describe, expect, it, vi } from "vitest"
import { type Account, dataOf, type Project, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { bodyFor } from "../support/bodies.ts"
import { newBusiness } from "../support/business.ts"
import { newCategory, newItem } from "../support/catalog.ts"
import { compose } from "../support/composites.ts"
import { sendDoc, skillMd } from "../support/documents.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"
import { itLong, sampled, soak } from "../support/needs.ts"
import { fill, openApi, type Operation, operationsOf } from "../support/operations.ts"
import { twins, withoutOperation, withoutTool } from "./twins.ts"

type Arguments = Readonly<Record<string, unknown>>

const berth = useBerth()
let owner: Account
let client: Client
let operations: ReadonlyArray<Operation> = []
let project: Project
let server: Server
let things: Readonly<Record<string, string>> = {}

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  operations = operationsOf(await openApi(berth))
  client = await connectMcp(berth.url, { token: owner.token, query: "?toolsets=all" })
  project = await owner.project()
  server = await owner.server(project.id, { slug: "parity-slug" })
  await owner.put(`/v1/servers/${server.id}/env/A`, { value: "x" })
  const { id: businessId, listingId } = await newBusiness(owner, { projectId: project.id })
  await owner.patch(`/api/v1/ready/businesses/${businessId}`, { serverId: server.id })
  await owner.patch(`/v1/directory/${listingId}`, { visible: true })
  await sendDoc(owner, listingId, skillMd)
  const itemId = (await newItem(owner, businessId)).id
  const categoryId = (await newCategory(owner, businessId, { name: "Parity" })).id
  const { id: deploymentId } = dataOf(
    await owner.post<{ data: { id: string } }>(`/v1/servers/${server.id}/deploy`, { imageUri: "oci:/nowhere" })
  )
  const registry = await owner.post<{ data: { id: string } }>("/v1/registries", {
    host: "ghcr.io",
    username: "u",
    password: "p"
  })
  things = {
    projectId: project.id,
    registryId: dataOf(registry).id,
    deploymentId,
    serverId: server.id,
    keyId: "key_x",
    name: "A",
    businessId,
    listingId,
    itemId,
    categoryId,
    compositeId: (await compose(owner)).id
  }
})

const allTools = async () => (await client.listTools()).tools

const operation = (name: string) => operations.find((candidate) => candidate.name === name)!

/** The operation over HTTP with a tool's flat arguments: those in the path, then the query or the body. */
const overHttp = (name: string, args: Arguments) => {
  const found = operation(name)
  const inPath = Object.fromEntries(found.parameters.map((parameter) => [parameter, String(args[parameter])]))
  const rest = Object.fromEntries(Object.entries(args).filter(([field]) => !found.parameters.includes(field)))
  const query = found.method === "GET"
    ? `?${
      new URLSearchParams(Object.entries(rest).map(([field, value]): [string, string] => [field, String(value)]))
        .toString()
    }`
    : ""
  return owner.request<{ data?: unknown; error?: unknown }>(found.method, fill(found, inPath) + query, {
    ...(found.bodyFields === undefined ? {} : { body: rest })
  })
}

/** Without the fields that would have been right: a tool has those of the path among them. */
const known = (value: unknown) =>
  JSON.parse(JSON.stringify(value).replace(/is unexpected, expected: (\\"\w+\\"( \| )?)+/g, "is unexpected")) as unknown

/** A tool of the hub calls an id by its argument's name, which is `id` in the path. */
const asInPath = (value: unknown) =>
  JSON.parse(JSON.stringify(value).replace(/"(composite|listing)Id: /, "\"id: ")) as unknown

/** What both doors answer: the value that counts, or the failure. */
const bothDoors = async (name: string, args: Arguments) => {
  const { body, status } = await overHttp(name, args)
  const isList = body !== undefined && "meta" in body
  // The names of variables are a bare list over HTTP, and MCP wants an object; documents of .well-known have no wrapper.
  const whole = isList || Array.isArray(body?.data) || name.startsWith("GET /.well-known/mcp-")
  const http = status >= 400 || whole ? body : body?.data
  const result = await callTool(client, twins[name] ?? "", args)
  const mcp = result.isError === true ? textOf(result) : result.structuredContent
  return { http, mcp, isError: result.isError === true, status, text: textOf(result) }
}

const ids = (name: string): Arguments =>
  Object.fromEntries(operation(name).parameters.map((parameter) => [parameter, things[parameter]]))

describe("HTTP and MCP", () => {
  it("have an operation and a tool for the same things", async () => {
    const tools = (await allTools()).map(({ name }) => name).sort()
    expect([...operations.map(({ name }) => name)].sort(), "each operation has a line in test/mcp/twins.ts")
      .toEqual([...Object.keys(twins), ...Object.keys(withoutTool)].sort())
    expect(tools, "each tool has a line in test/mcp/twins.ts").toEqual(
      [...new Set([...Object.values(twins), ...Object.keys(withoutOperation)])].sort()
    )
  })

  it("call their arguments by the same names", async () => {
    const tools = await allTools()
    for (const [name, toolName] of Object.entries(twins)) {
      const { bodyFields, parameters, query } = operation(name)
      const tool = tools.find((candidate) => candidate.name === toolName)
      const names = Object.keys(tool?.inputSchema.properties ?? {})
      const expected = [...new Set([...parameters, ...query, ...(bodyFields ?? [])])]
      // list_servers is two operations: projectId is the second's.
      if (name === "GET /v1/servers") expected.push("projectId")
      // Over HTTP the file is uploaded, and its mappings are a part beside it.
      if (name.endsWith("/import")) expected.push("filename", "content", "mappings")
      if (name.startsWith("POST") && name.endsWith("/capability-doc")) expected.push("format", "content")
      // Over HTTP it is a header.
      if (name.endsWith("/transactions")) expected.push("idempotencyKey")
      expect(names.sort(), name).toEqual(expected.sort())
    }
  })

  it("answer reads with the same value", async () => {
    // Markdown over HTTP: test/contract/hub-skill.test.ts compares it.
    const reads = Object.keys(twins).filter((name) => name.startsWith("GET ") && !name.endsWith("/skill.md"))
    for (const name of reads) {
      const query = operation(name).query.includes("subdomain") ? { subdomain: server.slug } : {}
      // Counts of what happened are written seconds later, which may be between the two.
      await vi.waitFor(async () => {
        const { http, mcp, status } = await bothDoors(name, { ...ids(name), ...query })
        expect(status, name).toBe(200)
        expect(mcp, name).toEqual(http)
      }, { timeout: 10_000 })
    }
    expect((await bothDoors("GET /v1/projects", { limit: 1 })).mcp).toMatchObject({ data: [{ id: project.id }] })
  })

  it("answer writes with the same value, but for what is new each time", async () => {
    const strip = (value: unknown) =>
      JSON.parse(
        JSON.stringify(value, (key, item: unknown) =>
          /^(id|listingId|key|keyPrefix|slug|subdomain|publicUrl|\w+At)$/.test(key) ? typeof item : item)
      ) as unknown
    const writes = [
      "POST /v1/projects",
      "PATCH /v1/projects/{projectId}",
      "POST /v1/projects/{projectId}/keys",
      "POST /v1/projects/{projectId}/servers",
      "PATCH /v1/servers/{serverId}",
      "PUT /v1/servers/{serverId}/auth",
      "POST /v1/servers/{serverId}/env",
      "PUT /v1/servers/{serverId}/env/{name}",
      "POST /api/v1/ready/businesses",
      "PATCH /api/v1/ready/businesses/{businessId}",
      "PATCH /api/v1/ready/businesses/{businessId}/listing",
      "POST /api/v1/ready/businesses/{businessId}/catalog/items",
      "PATCH /api/v1/ready/businesses/{businessId}/catalog/items/{itemId}",
      "PATCH /api/v1/ready/businesses/{businessId}/catalog/categories/{categoryId}",
      "PATCH /v1/directory/{listingId}"
    ]
    for (const name of writes) {
      const { http, mcp, status } = await bothDoors(name, { ...ids(name), ...bodyFor(name, things) })
      expect(status < 300, name).toBe(true)
      expect(strip(mcp), name).toEqual(strip(http))
    }
    await owner.put(`/v1/servers/${server.id}/auth`, { authMode: "service_managed" })
  })

  it("answer deletions with nothing but that it is done", async () => {
    const args = { projectId: (await owner.project()).id }
    const doomed = await owner.server(args.projectId)
    await owner.put(`/v1/servers/${doomed.id}/env/A`, { value: "x" })
    const calls: ReadonlyArray<readonly [string, Arguments]> = [
      ["delete_env", { serverId: doomed.id, name: "A" }],
      ["delete_server", { serverId: doomed.id }],
      ["delete_api_key", { keyId: (await owner.key(args.projectId)).id }],
      ["delete_project", args]
    ]
    for (const [tool, input] of calls) {
      const result = await callTool(client, tool, input)
      expect([result.isError, result.structuredContent, result.content], tool).toEqual([undefined, undefined, [{
        type: "text",
        text: "Done"
      }]])
      expect((await callTool(client, tool, input)).isError).toBe(true)
    }
  })

  it("refuse the same bodies with the same envelope", async () => {
    const withBody = Object.keys(twins).filter((name) => operation(name).bodyFields !== undefined)
    const values = [null, { a: 1 }, ["\u0000"], "\u0000", "\ud800", -1, 1e300, "", "x".repeat(40_000)]
    for (const [turn, name] of sampled(withBody, 10).entries()) {
      const fields = (operation(name).bodyFields ?? []).filter((field) => !operation(name).parameters.includes(field))
      const bad: ReadonlyArray<Arguments> = [
        {},
        { ...bodyFor(name, things), extra: 1 },
        { ...bodyFor(name, things), __proto: null },
        // Each field gets an object, which none takes, and two of the other values: each operation gets most of them.
        ...fields.flatMap((field, at) =>
          values.filter((_, of) => soak || of === 1 || of % 4 === (turn + at) % 4).map((value) => ({
            ...bodyFor(name, things),
            [field]: value
          }))
        )
      ]
      let refused = 0
      for (const body of bad) {
        const { http, isError, mcp, status } = await bothDoors(name, { ...ids(name), ...body })
        if (status < 400) continue
        refused++
        const shown = JSON.stringify(body).slice(0, 200)
        expect(isError, `${name} ${shown}`).toBe(true)
        expect(known(mcp), `${name} ${shown}`).toEqual(known(http))
      }
      expect(refused >= fields.length, name).toBe(true)
    }
  }, 60_000)

  it("refuse what is not there with the same envelope", async () => {
    for (const name of sampled(Object.keys(twins).filter((name) => operation(name).parameters.length > 0), 8)) {
      for (const id of ["srv_01J00000000000000000000000", "x", "", "\u0000", "../x", "__proto__"]) {
        const args = { ...Object.fromEntries(operation(name).parameters.map((field) => [field, id])) }
        if (/%|^$|\.\./.test(encodeURIComponent(id))) continue
        const { http, isError, mcp, status } = await bothDoors(name, { ...bodyFor(name, things), ...args })
        expect([isError, status >= 400], `${name} ${id}`).toEqual([true, true])
        expect(asInPath(mcp), `${name} ${id}`).toEqual(http)
      }
    }
  })

  it("refuse what clashes with the same envelope", async () => {
    const slug = { ...ids("POST /v1/projects/{projectId}/servers"), name: "x", slug: "parity-slug" }
    const clash = await bothDoors("POST /v1/projects/{projectId}/servers", slug)
    expect([clash.status, clash.mcp]).toEqual([409, clash.http])
    const free = await berth.signUp()
    const freeClient = await connectMcp(berth.url, { token: free.token })
    const projectId = (await free.project()).id
    for (const body of [{ region: "iad" }, { autoStopSeconds: null }]) {
      const http = await free.post(`/v1/projects/${projectId}/servers`, { name: "x", ...body })
      const mcp = await callTool(freeClient, "create_server", { projectId, name: "x", ...body })
      expect([http.status, mcp.isError, textOf(mcp)]).toEqual([403, true, http.body])
    }
    await freeClient.close()
  })

  itLong("refuse a bad page size or cursor with the same envelope: 400", async () => {
    const lists = Object.keys(twins).filter((name) => operation(name).query.includes("limit"))
    expect(lists.length).toBeGreaterThan(5)
    for (const name of lists) {
      const cursor = name.endsWith("logs") ? "before" : "cursor"
      const bad = [{ limit: 0 }, { limit: 201 }, { limit: 1.5 }, { limit: "x" }, { limit: "" }, { [cursor]: "garbage" }]
      for (const args of bad) {
        const { http, mcp, status } = await bothDoors(name, { ...ids(name), ...args })
        expect([status, mcp], `${name} ${JSON.stringify(args)}`).toEqual([400, http])
      }
    }
    for (const args of [{ lat: "north", lng: 0, radius_miles: 1 }, { lat: 1 }, { min_verification: "some" }]) {
      const { http, mcp, status } = await bothDoors("GET /v1/directory", args)
      expect([status, mcp], JSON.stringify(args)).toEqual([400, http])
    }
  })

  it("take a number as text alike in what is a query, and in a tool's arguments everywhere", async () => {
    const { http, isError, mcp } = await bothDoors("GET /v1/projects", { limit: "1" })
    expect([isError, mcp]).toEqual([false, http])
    const made = await callTool(client, "create_server", { projectId: project.id, name: "x", memoryMb: "512" })
    expect([made.isError, made.structuredContent]).toMatchObject([undefined, { memoryMb: 512 }])
    const shown = await callTool(client, "set_visibility", { listingId: things["listingId"], visible: "true" })
    expect([shown.isError, shown.structuredContent]).toMatchObject([undefined, { status: "active" }])
    const body = { name: "x", memoryMb: "512" }
    expect((await owner.post(`/v1/projects/${project.id}/servers`, body)).status).toBe(422)
  })
})

describe("the guides in skills/", () => {
  it("speak of tools that exist, and say what they are for", async () => {
    const tools = new Set((await allTools()).map(({ name }) => name).concat("find_tools", "call_tool"))
    const folders = readdirSync("skills")
    expect(folders.length).toBeGreaterThan(0)
    for (const folder of folders) {
      const text = readFileSync(`skills/${folder}/SKILL.md`, "utf8")
      expect(text).toMatch(/^---\nname: [a-z0-9-]+\ndescription: .+\n---\n/)
      const named = [...text.matchAll(/`([a-z]+(?:_[a-z]+)+|deploy|rollback)`/g)].map((match) => match[1] ?? "")
      expect(named.length).toBeGreaterThan(3)
      for (const name of named) expect(tools.has(name), `${folder} ${name}`).toBe(true)
    }
  })

  it("are what the MCP door offers as resources", async () => {
    const { resources } = await client.listResources()
    expect(resources.map(({ name }) => name)).toEqual(readdirSync("skills").sort())
    for (const { name, uri } of resources) {
      const { contents } = await client.readResource({ uri })
      expect(contents).toEqual([{
        uri,
        mimeType: "text/markdown",
        text: readFileSync(`skills/${name}/SKILL.md`, "utf8")
      }])
    }
  })
})
