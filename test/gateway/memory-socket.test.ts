import { memorySockets } from "#http/gateway/memory-socket.ts"
import { fetchThrough } from "#src/machines/machine-fetch.ts"
import { Agent, createServer, type RequestListener } from "node:http"
import { describe, expect, it } from "vitest"

const connecting = (listener: RequestListener) => {
  const server = createServer(listener)
  return () => {
    const [ours, theirs] = memorySockets()
    server.emit("connection", theirs)
    return ours
  }
}
const through = (listener: RequestListener, maxBytes = 64 * 1024 * 1024) => {
  const createConnection = connecting(listener)
  return fetchThrough(() => ({ createConnection }), { host: "x.test" }, maxBytes)
}

describe("a connection within the process", () => {
  it("carries a request and its response, however large", async () => {
    const body = "0123456789".repeat(500_000)
    const fetch = through((req, res) => {
      expect(req.headers.host).toBe("x.test")
      expect(req.socket.remoteAddress).toBe("127.0.0.1")
      req.pipe(res)
    })
    const answer = await fetch("http://x.test/a?b", { method: "POST", body })
    expect(await answer.text()).toBe(body)
    expect((await fetch("http://x.test/", { method: "POST", body: "" })).status).toBe(200)
  })

  it("streams: a chunk is there before the next is written", async () => {
    let more = () => {}
    const fetch = through((_req, res) => {
      res.writeHead(200, { "content-type": "text/event-stream" }).write("one")
      more = () => res.end("two")
    })
    const reader = (await fetch("http://x.test/")).body!.getReader()
    expect(Buffer.from((await reader.read()).value!).toString()).toBe("one")
    more()
    expect(Buffer.from((await reader.read()).value!).toString()).toBe("two")
    expect((await reader.read()).done).toBe(true)
  })

  it("may be left while nobody reads what came", async () => {
    const fetch = through((_req, res) => void res.writeHead(200, { "content-type": "text/event-stream" }).write("one"))
    const abort = new AbortController()
    const answers = [
      await fetch("http://x.test/", { signal: abort.signal }),
      await fetch("http://x.test/", { signal: abort.signal })
    ]
    // One whose beginning was read, one that nobody looked into.
    await answers[0]!.body!.getReader().read()
    abort.abort()
    // An error that nobody listens for would end the process, and fails the suite.
    await new Promise((resolve) => setTimeout(resolve, 50))
    await expect(answers[1]!.text()).rejects.toThrow(/abort/i)
  })

  it("may be left in the moment in which the last of an answer was read", async () => {
    const agent = new Agent({ keepAlive: true })
    agent.createConnection = connecting((_req, res) => void res.end("all"))
    const fetch = fetchThrough(() => ({ agent }), { host: "x.test" }, 1_000)
    for (let left = 0; left < 3; left++) {
      const abort = new AbortController()
      const { body } = await fetch("http://x.test/", { signal: abort.signal })
      expect((await body!.getReader().read()).value).toHaveLength(3)
      abort.abort()
      // An error that nobody listens for would end the process, and fails the suite.
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    expect(await (await fetch("http://x.test/")).text()).toBe("all")
  })

  it("tells the other side when one leaves", async () => {
    let closed = () => {}
    const left = new Promise<void>((resolve) => (closed = resolve))
    const fetch = through((req, res) => {
      res.on("close", closed)
      if (req.url === "/cut") res.destroy()
      if (req.url === "/half") {
        res.writeHead(200).write("half")
        setTimeout(() => res.destroy(), 20)
      }
    })
    const abort = new AbortController()
    const waiting = fetch("http://x.test/wait", { signal: abort.signal })
    setTimeout(() => abort.abort(), 20)
    await expect(waiting).rejects.toThrow(/abort/i)
    await left
    await expect(fetch("http://x.test/cut")).rejects.toThrow(/hung up|hang up|reset/i)
    await expect(fetch("http://x.test/half").then((answer) => answer.text())).rejects.toThrow()
  })
})
