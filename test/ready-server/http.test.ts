import { levelOf } from "#src/deployments/output-level.ts"
import { writeFileSync } from "node:fs"
import { get } from "node:http"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { itLong, sampled } from "../support/needs.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { type Exit, readyServerBundle, run, type Running, start } from "./bundle.ts"
import { minimal, restaurant } from "./config.ts"

let server: Running
/** What an event stream sends that is open, and idle, while the tests are at work. */
const idle: Array<string> = []
beforeAll(async () => {
  server = await start(restaurant)
  get(`${server.url}/sse`, (response) => response.on("data", (chunk: Buffer) => idle.push(chunk.toString())))
    .on("error", () => undefined)
}, 60_000)
afterAll(() => server?.stop())

const post = (path: string, body: string | Buffer, headers: Record<string, string> = {}) =>
  fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body
  })

const rpc = (method: string, params?: unknown) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })

it("/healthz answers 200 with JSON, to GET and HEAD", async () => {
  const response = await fetch(`${server.url}/healthz`)
  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({ status: "ok", business: "The Copper Ladle" })
  expect((await fetch(`${server.url}/healthz`, { method: "HEAD" })).status).toBe(200)
})

it("unknown paths are 404 and wrong methods 405, in JSON", async () => {
  for (const path of ["/", "/nothing", "/mcp/x", "/healthz/", "//", "/%zz"]) {
    const response = await fetch(`${server.url}${path}`)
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ error: { code: "not_found" } })
  }
  const response = await fetch(`${server.url}/mcp`)
  expect(response.status).toBe(405)
  expect(response.headers.get("allow")).toBe("POST")
  expect((await fetch(`${server.url}/mcp`, { method: "DELETE" })).status).toBe(405)
})

it("/mcp is stateless: a call needs no initialize and gets no session id", async () => {
  const response = await post("/mcp", rpc("tools/call", { name: "get_business" }))
  expect(response.status).toBe(200)
  expect(response.headers.get("mcp-session-id")).toBeNull()
  expect(await response.json()).toMatchObject({ id: 1, result: { structuredContent: { name: "The Copper Ladle" } } })
})

it("broken JSON is a JSON-RPC parse error, an oversized body 413, a foreign message an invalid request", async () => {
  for (const body of ["{", "", "\u0000", Buffer.from([0xff, 0xfe])]) {
    const response = await post("/mcp", body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ jsonrpc: "2.0", error: { code: -32700 }, id: null })
  }
  const large = await post("/mcp", JSON.stringify("x".repeat(1_000_001)))
  expect(large.status).toBe(413)
  expect(await large.json()).toMatchObject({ jsonrpc: "2.0", error: { code: -32600 } })
  for (const body of ["5", "null", "{\"hello\":1}", "[1,2]"]) {
    expect((await post("/mcp", body)).status).toBe(400)
  }
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
})

it("413 also when the length is not announced", async () => {
  const body = new ReadableStream({
    pull(controller) {
      controller.enqueue(new Uint8Array(300_000).fill(32))
      if ((sent += 300_000) >= 1_500_000) controller.close()
    }
  })
  let sent = 0
  const init = { method: "POST", body, duplex: "half", headers: { "content-type": "application/json" } }
  expect((await fetch(`${server.url}/mcp`, init as RequestInit)).status).toBe(413)
})

it("/message without a session of its own is 404, so that a client opens a new one", async () => {
  expect((await post("/message", rpc("ping"))).status).toBe(404)
  expect((await post("/message?sessionId=stale", rpc("ping"))).status).toBe(404)
})

it("/sse announces /message relative to itself, so that a path prefix in front of it stays", async () => {
  const response = await fetch(`${server.url}/sse`)
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8")
  const reader = response.body?.getReader()
  const text = new TextDecoder().decode((await reader?.read())?.value)
  const endpoint = /^event: endpoint\ndata: (\S+)\n\n$/.exec(text)?.[1] ?? ""
  expect(new URL(endpoint, "https://host/s/ladle/sse").pathname).toBe("/s/ladle/message")
  const notJson = await post(`/${endpoint}`, "{")
  expect(notJson.status).toBe(400)
  expect((await post(`/${endpoint}`, "{\"a\":1}")).status).toBe(400)
  await reader?.cancel()
  await expect.poll(async () => (await post(`/${endpoint}`, rpc("ping"))).status).toBe(404)
})

it("stops at SIGTERM with code 0, an open event stream or not", async () => {
  const one = await start(minimal)
  const response = await fetch(`${one.url}/sse`)
  const reader = response.body?.getReader()
  await reader?.read()
  const began = performance.now()
  expect((await one.stop()).code).toBe(0)
  expect(performance.now() - began).toBeLessThan(3000)
  expect((await reader?.read())?.done).toBe(true)
})

const text = (value: unknown) => JSON.stringify(value)

itLong("has a catalog of a thousand long items, from a file, up and searched within seconds", async () => {
  const description = "Slow-cooked with smoked paprika, roasted garlic and a squeeze of lime. ".repeat(12)
  const items = Array.from(
    { length: 1000 },
    (_, i) => ({ id: `item_${i}`, name: `Dish ${i}`, description, priceCents: i })
  )
  const path = join(temporaryDirectory("ready"), "ready-config.json")
  writeFileSync(path, text({ ...minimal, catalog: { categories: [], items } }))
  await readyServerBundle()
  const began = performance.now()
  const one = await run({ PORT: "0", SVC_READY_CONFIG_FILE: path }) as Running
  const ask = (name: string, args: object) =>
    fetch(`${one.url}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: text({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } })
    }).then((response) => response.text())
  expect(await ask("get_item", { id: "item_999" })).toContain("$9.99")
  const up = performance.now() - began
  expect(await ask("search_catalog", { query: "dish 512" })).toContain("item_512")
  const searched = performance.now() - began
  await one.stop()
  expect(up).toBeLessThan(2000)
  expect(searched).toBeLessThan(4000)
})

const without = (key: keyof typeof minimal) => Object.fromEntries(Object.entries(minimal).filter(([k]) => k !== key))

const wrong: ReadonlyArray<[string, Record<string, string>, string]> = [
  ["no configuration", {}, "SVC_READY_CONFIG is not set"],
  ["an empty configuration", { SVC_READY_CONFIG: " " }, "SVC_READY_CONFIG is not set"],
  ["a configuration that is not JSON", { SVC_READY_CONFIG: "{" }, "SVC_READY_CONFIG is not JSON"],
  ["a file that is not there", { SVC_READY_CONFIG_FILE: "/nowhere" }, "SVC_READY_CONFIG_FILE can't be read: ENOENT"],
  ["a file that is not JSON", { SVC_READY_CONFIG_FILE: import.meta.filename }, "SVC_READY_CONFIG_FILE is not JSON"],
  ["null", { SVC_READY_CONFIG: "null" }, "SVC_READY_CONFIG is wrong: must be an object"],
  ["another version", { SVC_READY_CONFIG: text({ ...minimal, version: "1.0" }) }, "version: must be 2.0"],
  ["no version", { SVC_READY_CONFIG: text(without("version")) }, "version: is required"],
  ["no business", { SVC_READY_CONFIG: text(without("business")) }, "business: is required"],
  ["no hours", { SVC_READY_CONFIG: text(without("hours")) }, "hours: is required"],
  [
    "a nameless business",
    { SVC_READY_CONFIG: text({ ...minimal, business: { name: " " } }) },
    "business.name: must not be blank"
  ],
  [
    "an unknown day",
    { SVC_READY_CONFIG: text({ ...minimal, hours: { mon: "closed" } }) },
    "hours.mon: must be named for a weekday"
  ],
  ["a day that never was", {
    SVC_READY_CONFIG: text({ ...minimal, hours: { "2026-02-30": "closed" } })
  }, "hours.2026-02-30: must be named for"],
  ["a bad time", {
    SVC_READY_CONFIG: text({ ...minimal, hours: { monday: { open: "9am", close: "17:00" } } })
  }, "hours.monday.open: must be a time of day, HH:MM"],
  ["a bad price", {
    SVC_READY_CONFIG: text({ ...minimal, catalog: { categories: [], items: [{ id: "a", name: "b", priceCents: -1 }] } })
  }, "catalog.items.0.priceCents:"],
  ["a repeated item", {
    SVC_READY_CONFIG: text({
      ...minimal,
      catalog: { categories: [], items: [{ id: "a", name: "b" }, { id: "a", name: "c" }] }
    })
  }, "catalog.items: must not have two items with the same id"],
  ["a bad port", { SVC_READY_CONFIG: text(minimal), PORT: "eighty" }, "PORT is not a port number"]
]

it.each(sampled(wrong, 8))("%s stops the start with one line that names it", async (_, env, message) => {
  const { code, stderr } = await run(env) as Exit
  expect(code).toBe(1)
  expect(stderr).toContain(message)
  expect(levelOf({ stream: "stderr", text: stderr })).toBe("error")
  expect(stderr.trimEnd().split("\n")).toHaveLength(1)
})

it("a wrong integrations field is named without its value", async () => {
  const { code, stderr } = await run({ SVC_READY_CONFIG: text({ ...minimal, integrations: "sk_secret" }) }) as Exit
  expect(code).toBe(1)
  expect(stderr).toContain("integrations")
  expect(stderr).not.toContain("sk_secret")
})

itLong("an idle event stream gets a comment within 15 seconds", async () => {
  await expect.poll(() => idle.join(""), { timeout: 16_500, interval: 200 }).toContain(": keep-alive\n\n")
}, 20_000)
