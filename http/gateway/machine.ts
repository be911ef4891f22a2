import { type MachineAddress } from "#src/machines/Machines.ts"
import { buildConnector } from "undici"
import { type Connection, type Home } from "./connection.ts"
import { PlainConnection } from "./plain-connection.ts"
import { type PlainHead, readPlainHead } from "./plain-head.ts"
import { UndiciConnection } from "./undici-connection.ts"

/** Connect timeout for machines, which are near. */
const connectTimeoutMs = 5_000
const maxIdle = 256

const hostOf = (host: string) => host.includes(":") ? `[${host}]` : host

/** The connections to one machine. Their number has no limit: each open stream has one. */
class Machine implements Home {
  readonly origin: string
  readonly connect: (opened: buildConnector.Callback) => void
  readonly connector: buildConnector.connector
  readonly #idle: { readonly plain: Array<PlainConnection>; readonly undici: Array<UndiciConnection> } = {
    plain: [],
    undici: []
  }
  readonly #onEmpty: () => void
  #count = 0
  #lastHead: { readonly text: string; readonly head: PlainHead } | undefined

  constructor(address: MachineAddress, onEmpty: () => void) {
    this.origin = address._tag === "Unix" ? "http://localhost" : `http://${hostOf(address.host)}:${address.port}`
    this.connector = buildConnector({
      timeout: connectTimeoutMs,
      ...(address._tag === "Unix" ? { socketPath: address.path } : {})
    })
    const [hostname, port] = address._tag === "Unix" ? ["localhost", ""] : [address.host, String(address.port)]
    this.connect = (opened) => this.connector({ hostname, host: hostname, port, protocol: "http:" }, opened)
    this.#onEmpty = onEmpty
  }

  /** The idle connection that was used last, so that those that are not needed close; or a new one. `fresh`: a new one. */
  plain(fresh: boolean): PlainConnection {
    return (fresh ? undefined : this.#idle.plain.pop()) ?? this.#counted(new PlainConnection(this))
  }

  undici(fresh: boolean): UndiciConnection {
    return (fresh ? undefined : this.#idle.undici.pop()) ?? this.#counted(new UndiciConnection(this))
  }

  #counted<A>(connection: A): A {
    this.#count++
    return connection
  }

  addIdle(connection: Connection) {
    const idle = this.#idleLike(connection)
    return idle.length < maxIdle && idle.push(connection) > 0
  }

  removeIdle(connection: Connection) {
    const idle = this.#idleLike(connection)
    const at = idle.lastIndexOf(connection)
    return at !== -1 && idle.splice(at, 1).length > 0
  }

  #idleLike(connection: Connection): Array<Connection> {
    return connection instanceof PlainConnection ? this.#idle.plain : this.#idle.undici
  }

  forget() {
    this.#count--
    if (this.#count === 0) this.#onEmpty()
  }

  /** A machine's answers often have the same head within a second. */
  readHead(text: string): PlainHead | undefined {
    if (this.#lastHead?.text === text) return this.#lastHead.head
    const head = readPlainHead(text)
    if (head !== undefined) this.#lastHead = { text, head }
    return head
  }
}

/** Machines to which there are connections, by address: one that stopped is forgotten with the last of them. */
const machines = new Map<string, Machine>()

export const machineAt = (address: MachineAddress) => {
  const key = address._tag === "Unix" ? address.path : `${address.host}:${address.port}`
  let machine = machines.get(key)
  if (machine === undefined) machines.set(key, machine = new Machine(address, () => machines.delete(key)))
  return machine
}
