import { once } from "node:events"
import { connect, createServer, type Server, type Socket } from "node:net"
import { freePort } from "./http.ts"

/** A way to the database that can be cut and mended. */
export class DatabaseProxy {
  readonly #sockets = new Set<Socket>()
  #target = new URL("postgres://localhost")
  #server: Server | undefined
  #port = 0
  #held = false

  /** The database's URL by way of the proxy. */
  through = async (url: string) => {
    this.#target = new URL(url)
    this.#port = await freePort()
    await this.mend()
    const own = new URL(url)
    own.host = `127.0.0.1:${this.#port}`
    own.search = ""
    return own.href
  }

  #connect() {
    const { hostname, port, searchParams } = this.#target
    const at = searchParams.get("port") ?? (port === "" ? "5432" : port)
    const host = searchParams.get("host") ?? hostname
    return host.startsWith("/") ? connect(`${host}/.s.PGSQL.${at}`) : connect(Number(at), host)
  }

  mend = async () => {
    this.#server = createServer((client) => {
      const database = this.#connect()
      for (const [from, to] of [[client, database], [database, client]] as const) {
        this.#sockets.add(from)
        from.on("error", () => to.destroy()).on("close", () => this.#sockets.delete(from)).pipe(to)
        if (this.#held) from.pause()
      }
    }).listen(this.#port, "127.0.0.1")
    await once(this.#server, "listening")
  }

  /** Lets nothing through from now on, in either direction, and breaks nothing off: a network that fell silent. */
  hold = () => {
    this.#held = true
    for (const socket of this.#sockets) socket.pause()
  }

  letGo = () => {
    this.#held = false
    for (const socket of this.#sockets) socket.resume()
  }

  cut = async () => {
    const closed = this.#server === undefined ? undefined : once(this.#server, "close")
    this.#server?.close()
    for (const socket of this.#sockets) socket.destroy()
    await closed
    this.#server = undefined
  }
}
