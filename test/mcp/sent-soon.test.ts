import { streamed } from "#http/mcp/sent-soon.ts"
import { HttpApp } from "@effect/platform"
import { Effect } from "effect"
import { setImmediate } from "node:timers/promises"
import { describe, expect, it, vi } from "vitest"

type Bytes = Uint8Array<ArrayBuffer>

/** What a transport answers with, and a client that reads it. */
const answering = (source: ConstructorParameters<typeof ReadableStream<Bytes>>[0], signal?: AbortSignal) => {
  const headers = { "content-type": "text/event-stream", "cache-control": "no-cache" }
  const answer = new Response(new ReadableStream(source), { headers })
  // As a route is.
  const handler = HttpApp.toWebHandler(Effect.interruptible(streamed(answer as Parameters<typeof streamed>[0])))
  return handler(new Request("http://localhost", { signal: signal ?? null }))
}

const bytes = (text: string) => new TextEncoder().encode(text)

describe("an event stream", () => {
  it("that ends at once is sent whole, with its length and headers", async () => {
    const answer = await answering({
      start(controller) {
        controller.enqueue(bytes("data: 1\n\n"))
        controller.enqueue(bytes("data: 2\n\n"))
        controller.close()
      }
    })
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache",
      "content-length": "18"
    })
    expect(await answer.text()).toBe("data: 1\n\ndata: 2\n\n")
  })

  it("that goes on is open before it ends, and loses nothing", async () => {
    let controller: ReadableStreamDefaultController<Bytes> | undefined
    const answer = await answering({
      start(given) {
        controller = given
        given.enqueue(bytes("data: 1\n\n"))
      }
    })
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
    expect(answer.headers.get("content-length")).toBeNull()
    expect(await reader.read()).toEqual({ done: false, value: "data: 1\n\n" })
    controller!.enqueue(bytes("data: 2\n\n"))
    expect(await reader.read()).toEqual({ done: false, value: "data: 2\n\n" })
    const began = performance.now()
    expect(await reader.read(), "a comment, since nothing else was said").toEqual({ done: false, value: ":\n\n" })
    expect(performance.now() - began).toBeLessThan(1_000)
    controller!.close()
    expect((await reader.read()).done).toBe(true)
  })

  it("is ended when the client leaves before anything was said", async () => {
    const canceled = vi.fn()
    const leaving = new AbortController()
    const answer = answering({ cancel: canceled }, leaving.signal)
    await setImmediate()
    leaving.abort()
    await answer
    await vi.waitFor(() => expect(canceled).toHaveBeenCalledOnce())
  })

  it("is ended when the client leaves later", async () => {
    const canceled = vi.fn()
    const answer = await answering({ start: (given) => given.enqueue(bytes("data: 1\n\n")), cancel: canceled })
    await answer.body!.cancel()
    await vi.waitFor(() => expect(canceled).toHaveBeenCalledOnce())
  })
})
