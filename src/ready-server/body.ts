import type { IncomingMessage } from "node:http"

const maxBodyBytes = 1_000_000

export type Body =
  | { readonly _tag: "Json"; readonly value: unknown }
  | { readonly _tag: "NotJson" }
  | { readonly _tag: "TooLarge" }
  /** The client disconnected: no response is possible. */
  | { readonly _tag: "Gone" }

/** Reads a JSON body, with no more than the limit in memory. */
export const readJson = (request: IncomingMessage): Promise<Body> =>
  new Promise((resolve) => {
    if (Number(request.headers["content-length"] ?? 0) > maxBodyBytes) return resolve({ _tag: "TooLarge" })
    const chunks: Array<Buffer> = []
    let size = 0
    request.on("data", (chunk: Buffer) => {
      size += chunk.length
      if (size <= maxBodyBytes) chunks.push(chunk)
      else {
        chunks.length = 0
        resolve({ _tag: "TooLarge" })
      }
    })
    request.on("end", () => {
      try {
        resolve({ _tag: "Json", value: JSON.parse(Buffer.concat(chunks).toString("utf8")) as unknown })
      } catch {
        resolve({ _tag: "NotJson" })
      }
    })
    request.on("error", () => resolve({ _tag: "Gone" }))
    request.on("close", () => resolve({ _tag: "Gone" }))
  })
