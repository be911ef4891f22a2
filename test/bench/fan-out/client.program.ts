/**
 * The client of the bench, in a process of its own, so that what it does is not counted as the platform's: JSON-RPC over
 * one kept connection, without a library that checks schemas. Calls as often as it is told, one at a time, and tells how
 * many milliseconds each took and, of these, how many the slowest member held it.
 */
import { Agent, request } from "node:http"
import { text } from "node:stream/consumers"

export interface Door {
  readonly url: string
  readonly token: string
}
/** Each call is made at all doors at once, and took as long as the last of them. */
export interface Order {
  readonly doors: ReadonlyArray<Door>
  readonly method: string
  readonly params: object
  readonly calls: number
}
export interface Call {
  readonly took: number
  readonly held: number
}

interface Result {
  readonly content?: ReadonlyArray<{ readonly text: string }>
  readonly structuredContent?: { readonly answers: ReadonlyArray<{ readonly status: string; readonly result: string }> }
  readonly tools?: ReadonlyArray<unknown>
}

const agent = new Agent({ keepAlive: true })

const post = ({ token, url }: Door, body: string) =>
  new Promise<string>((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-11-25",
      "content-length": Buffer.byteLength(body)
    }
    request(url, { agent, method: "POST", headers }, (answer) =>
      void text(answer).then((said) =>
        answer.statusCode === 200 ? resolve(said) : reject(new Error(said)), reject))
      .on("error", reject).end(body)
  })

const resultIn = (said: string): Result => {
  const json = said.startsWith("{") ? said : /^data: (.*)$/m.exec(said)?.[1] ?? ""
  const { result } = JSON.parse(json) as { readonly result?: Result }
  if (result === undefined) throw new Error(said)
  return result
}

const heldBy = (said: string): number => {
  const { content, structuredContent, tools } = resultIn(said)
  if (tools !== undefined) return 0
  if (structuredContent === undefined) return Number(content?.[0]?.text)
  const failed = structuredContent.answers.filter(({ status }) => status !== "ok")
  if (failed.length > 0) throw new Error(`a member failed: ${JSON.stringify(failed)}`)
  return Math.max(...structuredContent.answers.map(({ result }) => Number(result)))
}

const call = async (order: Order, id: number): Promise<Call> => {
  const body = JSON.stringify({ jsonrpc: "2.0", id, method: order.method, params: order.params })
  const began = performance.now()
  const said = await Promise.all(order.doors.map((door) => post(door, body)))
  const took = performance.now() - began
  return { took, held: Math.max(...said.map(heldBy)) }
}

process.on("message", (order: Order) => {
  void (async () => {
    const calls: Array<Call> = []
    for (let i = 0; i < order.calls; i++) calls.push(await call(order, i))
    process.send?.(calls)
  })()
})
process.on("disconnect", () => process.exit())
