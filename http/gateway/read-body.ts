import { type IncomingMessage } from "node:http"

export type ReadBody =
  | { readonly _tag: "Read"; readonly bytes: Buffer }
  | { readonly _tag: "TooLarge" }
  /** The client disconnected or stopped sending. */
  | { readonly _tag: "Gone" }

const timeoutMs = 60_000

/** Reads a whole body, with no more than the limit in memory. The rest of a larger one stays unread. */
export const readBody = (req: IncomingMessage, maxBytes: number): Promise<ReadBody> =>
  new Promise((resolve) => {
    const chunks: Array<Buffer> = []
    let size = 0
    const settle = (result: ReadBody) => {
      clearTimeout(timer)
      req.off("data", onData).off("end", onEnd).off("close", onClose).pause()
      resolve(result)
    }
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) settle({ _tag: "TooLarge" })
      else chunks.push(chunk)
    }
    const onEnd = () => settle({ _tag: "Read", bytes: Buffer.concat(chunks) })
    const onClose = () => settle({ _tag: "Gone" })
    const timer = setTimeout(onClose, timeoutMs)
    if (Number(req.headers["content-length"] ?? 0) > maxBytes) return settle({ _tag: "TooLarge" })
    req.on("error", () => undefined).on("data", onData).on("end", onEnd).on("close", onClose)
  })
