import { lineSplitter } from "#src/stdio-shim/Child.ts"
import { makeServer } from "#src/stdio-shim/http.ts"
import { Sessions } from "#src/stdio-shim/Sessions.ts"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { type Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import { FastCheck as fc } from "effect"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { type AddressInfo } from "node:net"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, describe, expect, it } from "vitest"
import { callTool } from "../support/mcp.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { stdioServer } from "./support/stdio-server.ts"

const script = join(temporaryDirectory("stdio"), "server.cjs")
writeFileSync(script, stdioServer())

const stops: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

const start = async (
  processes: "session" | "shared",
  { args = [] as ReadonlyArray<string>, sessions = 3, idle = 60_000 } = {}
) => {
  const all = new Sessions({
    program: process.execPath,
    args: [script, ...args],
    transport: "stdio",
    processes,
    sessions,
    idle
  })
  stops.push(() => all.stop())
  await all.warm()
  const server = makeServer(all)
  await once(server.listen(0, "127.0.0.1"), "listening")
  stops.push(async () => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const connect = async (url: string, name = "test") => {
  const client = new Client({ name, version: "1" }, { capabilities: { roots: {} } })
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`))
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///from/client" }] }))
  await client.connect(transport as Transport)
  stops.push(() => client.close())
  return { client, transport }
}

const asked = async (client: Client, name: string, args: Readonly<Record<string, unknown>> = {}) => {
  const { content: [first] } = await callTool(client, name, args)
  return first?.type === "text" ? first.text : ""
}
const who = async (client: Client) => JSON.parse(await asked(client, "who")) as Record<string, unknown>

const post = (url: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${url}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body)
  })
const initialize = (id: number | string = 1) => ({
  jsonrpc: "2.0",
  id,
  method: "initialize",
  params: { protocolVersion: "2099-01-01", capabilities: {}, clientInfo: { name: "raw", version: "1" } }
})
const open = async (url: string) => {
  const answer = await post(url, initialize())
  return { session: answer.headers.get("mcp-session-id") ?? "", body: await answer.json() }
}

describe.each(["session", "shared"] as const)("a stdio server over HTTP, processes: %s", (processes) => {
  it("passes on calls, progress, questions to the client, log messages and large results", async () => {
    const { client } = await connect(await start(processes))
    expect((await client.listTools()).tools).toHaveLength(8)
    expect(await asked(client, "ask")).toContain("file:///from/client")
    const steps: Array<number> = []
    const done = await client.callTool({ name: "progress", arguments: {} }, undefined, {
      onprogress: ({ progress }) => steps.push(progress)
    })
    expect(done.content).toEqual([{ type: "text", text: "done" }])
    expect(steps).toEqual([1, 2, 3])
    expect(await asked(client, "big", { bytes: 5_000_000 })).toHaveLength(5_000_000)
    expect(await asked(client, "mumble")).toBe("mumbled")
    expect(await asked(client, "log")).toBe("logged")
    const answers = await Promise.all(Array.from({ length: 30 }, () => who(client)))
    expect(new Set(answers.map(({ calls }) => calls)).size).toBe(30)
  })

  it("answers where its program begins with words and no newline, in the first session as in every other", async () => {
    const url = await start(processes, { args: ["--prompt"] })
    for (let session = 0; session < 3; session++) expect((await open(url)).body).toMatchObject({ id: 1, result: {} })
  })

  it("changes nothing in messages, so that a revision it does not know works too", async () => {
    const { body } = await open(await start(processes))
    expect(body).toMatchObject({ id: 1, result: { protocolVersion: "2099-01-01", sent: "raw" } })
  })

  it("passes a cancellation on with the id that the program knows", async () => {
    const { client } = await connect(await start(processes))
    const cancelled = new AbortController()
    const never = client.callTool({ name: "never", arguments: {} }, undefined, { signal: cancelled.signal })
    await sleep(50)
    cancelled.abort("enough")
    await expect(never).rejects.toThrow()
    const { cancelled: told } = await who(client)
    expect(told).toHaveLength(1)
  })

  it("answers open calls with an error when its program dies, then 404; a new session works", async () => {
    const url = await start(processes)
    const { client, transport } = await connect(url)
    const open = await Promise.allSettled(["never", "die"].map((name) => client.callTool({ name, arguments: {} })))
    for (const { reason } of open as ReadonlyArray<PromiseRejectedResult>) {
      expect(String(reason)).toContain("exited with code 7")
    }
    const after = await post(url, { jsonrpc: "2.0", id: 9, method: "ping" }, { "mcp-session-id": transport.sessionId! })
    expect([after.status, after.headers.get("content-type")]).toEqual([404, "application/json"])
    expect(await after.json()).toMatchObject({ id: 9, error: { code: -32_001 } })
    expect((await who((await connect(url)).client))["calls"]).toBe(1)
  })

  it("gives a client that comes back with the last event what came since, and the answer", async () => {
    const url = await start(processes)
    const { session } = await open(url)
    const headers = { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" }
    const call = { jsonrpc: "2.0", id: 5, method: "tools/call", params: { name: "ask", arguments: {} } }
    const broken = new AbortController()
    const first = await fetch(`${url}/mcp`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify(call),
      signal: broken.signal
    })
    const reader = first.body!.getReader()
    const primed = new TextDecoder().decode((await reader.read()).value)
    const last = /^id: (\S+)\ndata: \n\n/.exec(primed)?.[1]
    expect(last).toBe("2-0")
    broken.abort()
    await reader.closed.catch(() => {})
    await sleep(100)
    const again = await fetch(`${url}/mcp`, {
      headers: { ...headers, accept: "text/event-stream", "last-event-id": last! }
    })
    const rest = again.body!.pipeThrough(new TextDecoderStream()).getReader()
    let seen = ""
    while (!seen.includes("roots/list")) seen += (await rest.read()).value ?? ""
    const question = JSON.parse(/data: (\{.*roots\/list.*\})/.exec(seen)![1]!) as { id: string }
    expect((await post(url, { jsonrpc: "2.0", id: question.id, result: { roots: [] } }, headers)).status).toBe(202)
    for (let part = await rest.read(); !part.done; part = await rest.read()) seen += part.value
    expect(seen).toContain("\"id\":5")
    const none = await fetch(`${url}/mcp`, {
      headers: { ...headers, accept: "text/event-stream", "last-event-id": "9-1" }
    })
    expect(none.status).toBe(400)
  })

  it("begins each event stream at once, by a comment where the client knows no event without data", async () => {
    const url = await start(processes)
    const headers = { "mcp-session-id": (await open(url)).session, "mcp-protocol-version": "2025-06-18" }
    const never = { jsonrpc: "2.0", id: 5, method: "tools/call", params: { name: "never", arguments: {} } }
    const streams = [
      await post(url, never, headers),
      await fetch(`${url}/mcp`, { headers: { ...headers, accept: "text/event-stream" } })
    ]
    for (const { body, headers } of streams) {
      expect(headers.get("content-type")).toBe("text/event-stream; charset=utf-8")
      const reader = body!.getReader()
      expect(new TextDecoder().decode((await reader.read()).value)).toBe(": \n\n")
      await reader.cancel()
    }
    // The next comment comes after 20 seconds.
  }, 10_000)

  it("refuses what is no JSON-RPC message, no session's, or uses an id twice", async () => {
    const url = await start(processes)
    const { session } = await open(url)
    const headers = { "mcp-session-id": session }
    for (const body of ["{", "[]", "7", "null", { jsonrpc: "2.0" }, { id: {}, method: "x" }, [{ method: 1 }]]) {
      expect((await post(url, body, headers)).status).toBe(400)
    }
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" }
    expect((await post(url, ping)).status).toBe(400)
    expect((await post(url, ping, { "mcp-session-id": "none" })).status).toBe(404)
    expect((await post(url, [ping, ping], headers)).status).toBe(400)
    expect((await post(url, `"${"x".repeat(17_000_000)}"`, headers)).status).toBe(413)
    expect((await post(url, ping, headers)).status).toBe(200)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    expect((await fetch(`${url}/sse`)).status).toBe(404)
    expect((await fetch(`${url}/mcp`, { method: "DELETE", headers })).status).toBe(200)
    expect((await post(url, ping, headers)).status).toBe(404)
  })

  it("answers requests of revisions without sessions", async () => {
    const url = await start(processes)
    const headers = { "mcp-protocol-version": "2026-07-28" }
    const list = { jsonrpc: "2.0", id: "a", method: "tools/list", params: {} }
    const answers = await Promise.all([post(url, list, headers), post(url, list, headers)])
    for (const answer of answers) {
      expect(answer.headers.get("mcp-session-id")).toBeNull()
      expect(await answer.text()).toMatch(/"id":"a".*|"tools":\[/)
    }
    expect(await (await post(url, { ...list, method: "server/discover" }, headers)).text()).toContain("-32601")
  })
})

describe("processes of a stdio server", () => {
  it("are one for each session, which counts for itself", async () => {
    const url = await start("session")
    const [a, b] = [(await connect(url)).client, (await connect(url)).client]
    const [one, two] = [await who(a), await who(b)]
    expect(one["pid"]).not.toBe(two["pid"])
    expect([one["calls"], two["calls"]]).toEqual([1, 1])
  })

  it("are one for all when shared, where ids and answers do not mix", async () => {
    const url = await start("shared")
    const clients = await Promise.all(Array.from({ length: 12 }, async () => (await connect(url)).client))
    const pids = await Promise.all(clients.map((client) => who(client)))
    expect(new Set(pids.map(({ pid }) => pid)).size).toBe(1)
    const answers = await Promise.all(clients.map((client) => asked(client, "ask")))
    for (const answer of answers) expect(answer).toContain("file:///from/client")
  })

  it("are limited: sessions in use stay, and the next is told to come later; quiet ones make room", async () => {
    const url = await start("session", { sessions: 2 })
    const [a] = [await connect(url), await connect(url)]
    const refused = await post(url, initialize())
    expect(refused.status).toBe(503)
    expect(refused.headers.get("retry-after")).toBe("10")
    await a.client.close()
    const next = await post(url, initialize())
    expect(next.status).toBe(200)
  }, 20_000)

  it("make room although their streams are open, where composites keep them for their next call", async () => {
    const url = await start("session", { sessions: 2 })
    const [kept, other] = [await connect(url, "berth-composites"), await connect(url, "berth-composites")]
    await who(kept.client)
    await who(other.client)
    const own = await connect(url)
    expect(await who(own.client)).toMatchObject({ calls: 1 })
    expect(await who(other.client)).toMatchObject({ calls: 2 })
    await expect(who(kept.client)).rejects.toThrow("Session not found")
  }, 20_000)

  it("end with their session when nobody asks for the idle time", async () => {
    const url = await start("session", { idle: 300 })
    const { session } = await open(url)
    await sleep(1_000)
    expect((await post(url, { jsonrpc: "2.0", id: 1, method: "ping" }, { "mcp-session-id": session })).status).toBe(404)
  })

  it("that do not start are told with how they ended", async () => {
    await expect(start("session", { args: ["--fail"] })).rejects.toThrow("exited with code 4 before it answered")
  })
})

it("lines come out whole, however the bytes are cut", () => {
  fc.assert(fc.property(
    fc.array(fc.string({ unit: "grapheme" }).filter((line) => line.trim() !== "" && !line.includes("\n"))),
    fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
    (lines, cuts) => {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""))
      const out: Array<string> = []
      const write = lineSplitter((line) => out.push(line), () => {})
      for (let at = 0, cut = 0; at < bytes.length; cut++) {
        const size = cuts[cut % cuts.length]!
        write(bytes.subarray(at, at + size))
        at += size
      }
      expect(out).toEqual(lines)
    }
  ))
})
