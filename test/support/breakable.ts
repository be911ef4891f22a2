import { once } from "node:events"
import { createServer, type IncomingMessage, request as send, type ServerResponse } from "node:http"

export interface PassedRequest {
  readonly method: string
  readonly path: string
  readonly authorization: string | undefined
  /** Bytes that its body was announced with. */
  readonly size: number
  /** Bytes of its body that were passed on. */
  bytes: number
}

/** What becomes of a request; undefined: it is passed on as it is. */
type Fault =
  | { readonly status: number; readonly body?: string; readonly headers?: Readonly<Record<string, string>> }
  /** The connection breaks after so many bytes of its body, which are passed on. */
  | { readonly cutAfter: number }
  /** So many milliseconds between two pieces of the body. */
  | { readonly slow: number }

/** A proxy before an HTTP server, where requests can be broken: `fault` is asked for each. */
export const startBreakable = async (target: string) => {
  const seen: Array<PassedRequest> = []
  const way = { fault: (_request: PassedRequest): Fault | undefined => undefined }

  const passOn = (incoming: IncomingMessage, response: ServerResponse, passed: PassedRequest, fault?: Fault) => {
    const [hostname, port] = target.split(":")
    const { method, headers, url: path } = incoming
    const outgoing = send({ hostname, port, method, headers, path, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    const broken = () => {
      outgoing.destroy()
      incoming.socket.destroy()
    }
    outgoing.on("error", broken)
    incoming.on("error", broken)
    const cutAfter = fault !== undefined && "cutAfter" in fault ? fault.cutAfter : Infinity
    incoming.on("data", (chunk: Buffer) => {
      const part = chunk.subarray(0, cutAfter - passed.bytes)
      passed.bytes += part.length
      outgoing.write(part)
      if (passed.bytes >= cutAfter) setTimeout(broken, 50)
      if (fault !== undefined && "slow" in fault) {
        incoming.pause()
        setTimeout(() => incoming.resume(), fault.slow)
      }
    })
    incoming.on("end", () => outgoing.end())
  }

  const server = createServer((incoming, response) => {
    const { headers: { authorization, "content-length": size = "0" }, method = "", url: path = "" } = incoming
    const passed: PassedRequest = { method, path, authorization, size: Number(size), bytes: 0 }
    seen.push(passed)
    const fault = way.fault(passed)
    if (fault === undefined || !("status" in fault)) return passOn(incoming, response, passed, fault)
    incoming.resume()
    response.writeHead(fault.status, fault.headers).end(fault.body)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const host = `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  const close = async () => {
    server.closeAllConnections()
    server.close()
    await once(server, "close")
  }
  /** Breaks requests by a rule; without one everything passes again. */
  const breaks = (fault: (request: PassedRequest) => Fault | undefined = () => undefined) => {
    way.fault = fault
    seen.length = 0
  }
  return { host, seen, breaks, close }
}
