import { Effect } from "effect"
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http"
import { type AddressInfo } from "node:net"

export type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A host of metadata documents, on loopback: what it answers can be changed, and what it was asked is kept. */
export class ClientHost {
  readonly asked: Array<IncomingMessage> = []
  origin = ""
  answer: Answer = (_request, response) => void response.writeHead(404).end()
  #paths = 0

  /** An id that nobody used before. */
  newId = () => `${this.origin}/client-${++this.#paths}.json`

  document = (clientId: string, fields: Readonly<Record<string, unknown>> = {}) => ({
    client_id: clientId,
    client_name: "Menu Reader",
    redirect_uris: ["https://client.example/callback", "http://localhost/callback"],
    ...fields
  })

  /** Answers with the document and these headers from now on. */
  serve = (document: unknown, headers: Readonly<Record<string, string>> = {}) => {
    this.answer = (_request, response) =>
      void response.writeHead(200, { "content-type": "application/json", ...headers }).end(JSON.stringify(document))
  }

  /** The next request is answered as now, but when it is told to. */
  hold = () => {
    const { answer } = this
    let release = () => {}
    const arrived = new Promise<void>((resolve) => {
      this.answer = (request, response) => {
        release = () => answer(request, response)
        this.answer = answer
        resolve()
      }
    })
    return { arrived, release: () => release() }
  }

  fail = (status: number, headers: Readonly<Record<string, string>> = {}) => {
    this.answer = (_request, response) => void response.writeHead(status, headers).end()
  }
}

const listen = (listener: RequestListener) =>
  new Promise<{ readonly origin: string; readonly stop: () => void }>((resolve) => {
    const server = createServer(listener).listen(0, "127.0.0.1", () =>
      resolve({
        origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        stop: () => {
          server.closeAllConnections()
          server.close()
        }
      }))
  })

export const startClientHost = async () => {
  const host = new ClientHost()
  const { origin, stop } = await listen((request, response) => {
    host.asked.push(request)
    host.answer(request, response)
  })
  host.origin = origin
  return { host, stop }
}

/** For as long as the scope lasts. */
export const clientHost = Effect.map(
  Effect.acquireRelease(Effect.promise(startClientHost), ({ stop }) => Effect.sync(stop)),
  ({ host }) => host
)
