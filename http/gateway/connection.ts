import { type buildConnector } from "undici"
import { type PlainHead } from "./plain-head.ts"

/** For one request at a time. */
export interface Connection {
  /** Whether a request was answered on it before: the machine may be closing it just now. */
  readonly wasUsed: boolean
  /** For the next request: the answer is complete. */
  readonly release: () => void
  /** Closes it, with the request that is under way. */
  readonly destroy: () => void
}

/** What a connection has from the machine that it leads to. */
export interface Home {
  readonly origin: string
  readonly connector: buildConnector.connector
  readonly connect: (opened: buildConnector.Callback) => void
  /** False: there are enough. */
  readonly addIdle: (connection: Connection) => boolean
  /** False: it was not idle. */
  readonly removeIdle: (connection: Connection) => boolean
  /** It is closed. */
  readonly forget: () => void
  readonly readHead: (text: string) => PlainHead | undefined
}
