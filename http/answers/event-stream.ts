import { Pulse } from "#http/connection/pulse.ts"

/** Of event streams of ours: without a charset some readers take them for Latin-1. */
export const eventStreamType = "text/event-stream; charset=utf-8"

const beatMillis = 250

type Bytes = Uint8Array<ArrayBuffer>

/** The same event stream, with comments while it says nothing (docs/decisions/silent-streams.md). Its end ends the source. */
export const keptAlive = (source: ReadableStream<Bytes>): ReadableStream<Bytes> => {
  const reader = source.getReader()
  const pulse = new Pulse(performance.now())
  const encoder = new TextEncoder()
  let timer: NodeJS.Timeout | undefined
  return new ReadableStream<Bytes>({
    start: (controller) => {
      timer = setInterval(() => {
        // A client that does not read gets none.
        const comment = (controller.desiredSize ?? 0) > 0 ? pulse.beat(performance.now()) : undefined
        if (comment !== undefined) controller.enqueue(encoder.encode(comment))
      }, beatMillis)
    },
    pull: async (controller) => {
      const { done, value } = await reader.read().catch((error: unknown) => {
        clearInterval(timer)
        throw error
      })
      if (done) {
        clearInterval(timer)
        controller.close()
      } else {
        pulse.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength))
        controller.enqueue(value)
      }
    },
    cancel: (reason) => {
      clearInterval(timer)
      return reader.cancel(reason)
    }
  })
}
