import { appendFileSync } from "node:fs"
import { Agent, type IncomingMessage, request } from "node:http"
import { setTimeout } from "node:timers/promises"
import { expect, onTestFinished } from "vitest"

interface Sent {
  readonly method?: string
  readonly rpc?: unknown
  readonly session?: string | undefined
  readonly accept?: string
}

interface Reply {
  readonly status: number
  readonly session: string | undefined
  readonly text: string
}

/** Where a hosted server is asked: its URL at one gateway, and a token for it. */
export interface Where {
  readonly url: string
  readonly token: string
}

/** One request; `agent: false` is a connection of its own. */
const ask = (where: Where, path: string, agent: Agent | false, sent: Sent = {}) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    const { accept = "application/json, text/event-stream", method = "POST", rpc, session } = sent
    const body = rpc === undefined ? undefined : JSON.stringify(rpc)
    const outgoing = request(`${where.url}${path}`, {
      agent,
      method,
      headers: {
        authorization: `Bearer ${where.token}`,
        accept,
        ...(body === undefined
          ? {}
          : { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
        ...(session === undefined ? {} : { "mcp-session-id": session })
      }
    })
    outgoing.on("error", reject).on("response", resolve)
    outgoing.end(body)
  })

export const reply = async (where: Where, path: string, agent: Agent | false, sent: Sent = {}): Promise<Reply> => {
  const response = await ask(where, path, agent, sent)
  let text = ""
  for await (const chunk of response.setEncoding("utf8")) text += chunk
  const session = response.headers["mcp-session-id"]
  return { status: response.statusCode ?? 0, session: typeof session === "string" ? session : undefined, text }
}

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "prober", version: "1" } }
}
export const call = (seconds = 0) => ({
  jsonrpc: "2.0",
  id: 2,
  method: "tools/call",
  params: { name: seconds === 0 ? "version" : "slow", arguments: seconds === 0 ? {} : { seconds } }
})

export const openSession = async (where: Where, agent: Agent | false = false) => {
  const { session, status, text } = await reply(where, "/mcp", agent, { rpc: initialize })
  if (status !== 200 || session === undefined) throw new Error(`initialize: ${status} ${text}`)
  return session
}

/** The version that answered in the session; undefined: the session is gone. */
export const callIn = async (where: Where, session: string, { agent = false, seconds = 0 }: {
  readonly agent?: Agent | false
  readonly seconds?: number
} = {}) => {
  const { status, text } = await reply(where, "/mcp", agent, { rpc: call(seconds), session })
  if (status === 404 && text.includes("-32001")) return undefined
  const version = /"text":"([^"]*)"/.exec(text)?.[1]
  if (status !== 200 || version === undefined) throw new Error(`tools/call: ${status} ${text}`)
  return version
}

/** The machine's own name for itself, from its health path. */
export const versionAt = async (where: Where, agent: Agent | false = false) => {
  const { status, text } = await reply(where, "/healthz", agent, { method: "GET" })
  if (status !== 200) throw new Error(`health: ${status} ${text}`)
  return /"version":"([^"]*)"/.exec(text)?.[1] ?? ""
}

/** An event stream: the data of its events, one by one, and whether it ended cleanly. */
export const openStream = async (where: Where, path: string, session?: string) => {
  const response = await ask(where, path, false, { method: "GET", accept: "text/event-stream", session })
  if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode}`)
  const ended = new Promise<boolean>((resolve) => {
    response.on("end", () => resolve(true)).on("error", () => resolve(false)).on("close", () => resolve(false))
  })
  const waiting: Array<(data: string) => void> = []
  const arrived: Array<string> = []
  let rest = ""
  response.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) {
      if (!line.startsWith("data: ")) continue
      const next = waiting.shift()
      if (next === undefined) arrived.push(line.slice(6))
      else next(line.slice(6))
    }
  })
  const next = () =>
    new Promise<string>((resolve) => {
      const first = arrived.shift()
      if (first === undefined) waiting.push(resolve)
      else resolve(first)
    })
  return { next, ended, close: () => void response.destroy() }
}

export interface Probed {
  readonly failures: ReadonlyArray<string>
  /** How many requests of each kind were answered. */
  readonly counts: Readonly<Record<string, number>>
  /** For how long the sessions lived that were lost, in milliseconds since their version was replaced. */
  readonly lost: ReadonlyArray<number>
}

/** What a soak is told by afterwards: a line for each prober, where a file is named for it. */
const record = (probed: Readonly<Record<string, unknown>>) => {
  const file = process.env["SOAK_RECORD"]
  if (file === undefined) return
  appendFileSync(file, `${JSON.stringify({ at: new Date(), test: expect.getState().currentTestName, ...probed })}\n`)
}

/**
 * Uses a server without a break as its clients do, at several gateways: each request on a connection of its own and on
 * one that is kept, slow calls, a session that goes on for as long as it may, and a stream.
 */
export const startProber = (
  places: ReadonlyArray<Where>,
  { replacedAt, slowSeconds }: {
    readonly slowSeconds: number
    readonly replacedAt: (version: string) => number | undefined
  }
) => {
  let isOver = false
  const failures: Array<string> = []
  const counts: Record<string, number> = {}
  const lost: Array<number> = []
  const agents: Array<Agent> = []
  const loop = async (kind: string, pause: number, work: () => Promise<unknown>) => {
    while (!isOver) {
      const began = new Date().toISOString()
      try {
        await work()
        counts[kind] = (counts[kind] ?? 0) + 1
      } catch (error) {
        failures.push(`${began} ${kind}: ${String(error)}`)
      }
      await setTimeout(pause)
    }
  }
  const anew = async (where: Where, agent: Agent | false) => {
    const session = await openSession(where, agent)
    if ((await callIn(where, session, { agent })) === undefined) throw new Error("a new session is unknown")
    await reply(where, "/mcp", agent, { method: "DELETE", session })
  }
  const lasting = (where: Where, other: Where) => {
    let session: string | undefined
    let version: string | undefined
    return async () => {
      session ??= await openSession(where)
      const now = await callIn(Math.random() < 0.5 ? where : other, session)
      if (now !== undefined && version !== undefined && now !== version) throw new Error(`${version} became ${now}`)
      if (now === undefined) {
        const since = replacedAt(version ?? "")
        if (since === undefined) throw new Error(`a session of ${version} is gone, which serves still`)
        lost.push(Date.now() - since)
        session = undefined
      }
      version = now
    }
  }
  const loops = places.flatMap((where, at) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 4 })
    agents.push(agent)
    const other = places[(at + 1) % places.length] ?? where
    return [
      loop("new connection", 20, () => anew(where, false)),
      loop("kept connection", 20, () => anew(where, agent)),
      loop("health", 20, () => versionAt(where, agent)),
      loop("session", 100, lasting(where, other)),
      ...[0, 1, 2].map(() =>
        loop("slow call", 50, async () => {
          const session = await openSession(where)
          const version = await callIn(where, session, { seconds: slowSeconds })
          if (version === undefined) throw new Error("its session is unknown")
        })
      )
    ]
  })
  let ended: Promise<Probed> | undefined
  const end = async (): Promise<Probed> => {
    isOver = true
    await Promise.all(loops)
    for (const agent of agents) agent.destroy()
    record({ counts, failures, lost: lost.length })
    return { failures, counts, lost }
  }
  const stop = () => ended ??= end()
  // A test that fails leaves none behind for the next one.
  onTestFinished(async () => void await stop())
  return { stop }
}
