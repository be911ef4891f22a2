import { once } from "node:events"
import { createServer } from "node:http"
import { afterAll, beforeAll } from "vitest"

/** A client's callback on this machine: keeps what it was sent. `/hop` leads on to another origin, `/app` to an app. */
export const useCallback = () => {
  const received: Array<URL> = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", origin())
    if (url.pathname === "/favicon.ico") return response.writeHead(404).end()
    received.push(url)
    const onward = url.pathname === "/hop"
      ? `http://localhost:${url.port}/landed${url.search}`
      : url.pathname === "/app"
      ? `com.example.editor:/done${url.search}`
      : undefined
    if (onward !== undefined) return response.writeHead(302, { location: onward }).end()
    response.writeHead(200, { "content-type": "text/html" }).end("<title>Client</title><p>Back at the client")
  })
  const origin = () => {
    const address = server.address()
    return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  }
  beforeAll(async () => {
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return { origin, received }
}
