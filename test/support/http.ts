import { once } from "node:events"
import { request as open } from "node:http"
import { connect, createServer } from "node:net"
import { text } from "node:stream/consumers"

/** What came back. `body` is the JSON of the answer, or undefined when there is none. */
export interface Answer<Body = unknown> {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Body
}

export interface Sent {
  /** Sent as JSON, unless it is text or bytes already. */
  readonly body?: unknown
  readonly token?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
}

/** The envelope of every failure. */
export interface FailureBody {
  readonly error: {
    readonly code: string
    readonly message: string
    readonly details?: { readonly issues?: ReadonlyArray<{ readonly path: string; readonly message: string }> }
  }
}

let lastAddress = 0

/** An IP address nobody used before: callers behind the trusted proxy that do not share a rate limit. */
export const freshAddress = () => {
  lastAddress++
  return `198.18.${lastAddress >> 8 & 255}.${lastAddress & 255}`
}

const parsed = (text: string): unknown => {
  try {
    return text === "" ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

const encoded = (body: unknown) =>
  body === undefined || typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body)

/**
 * Sends a request as it is: the path goes out to the letter, where `fetch` would tidy it. Each request has a connection
 * of its own, so that none hears of another's.
 */
export const send = async <Body = unknown>(
  base: string,
  method: string,
  path: string,
  { body, headers, token }: Sent = {}
): Promise<Answer<Body>> => {
  const { hostname, port } = new URL(base)
  const content = encoded(body)
  const outgoing = open({
    agent: false,
    host: hostname,
    port,
    method,
    path,
    headers: {
      ...(content === undefined ? {} : {
        "content-type": "application/json",
        "content-length": String(Buffer.byteLength(content))
      }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers
    }
  })
  // A body that is refused half-way breaks the sending; the answer is what counts.
  const answer = new Promise<Answer<Body>>((resolve, reject) => {
    outgoing.on("error", reject).on("response", (incoming) => {
      outgoing.off("error", reject).on("error", () => undefined)
      const received = new Headers()
      for (let i = 0; i < incoming.rawHeaders.length; i += 2) {
        received.append(incoming.rawHeaders[i]!, incoming.rawHeaders[i + 1]!)
      }
      text(incoming).then(
        (text) => resolve({ status: incoming.statusCode!, headers: received, text, body: parsed(text) as Body }),
        reject
      )
    })
  })
  outgoing.end(content)
  return answer
}

/** Sends bytes down a socket and reads until the other side closes. */
export const sendRaw = async (base: string, bytes: string | Uint8Array) => {
  const { hostname, port } = new URL(base)
  const socket = connect(Number(port), hostname)
  await once(socket, "connect")
  socket.on("error", () => undefined)
  socket.write(bytes)
  return text(socket)
}

/** A port that was free a moment ago. */
export const freePort = async () => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  return typeof address === "object" && address !== null ? address.port : 0
}
