import { type MachineAddress } from "#src/machines/Machines.ts"
import { type Addressing, addressingOf, type AddressingSource } from "#src/routing/addressing.ts"
import { type Route } from "#src/routing/Route.ts"
import { type Target } from "#src/servers/locate.ts"
import { type IncomingMessage } from "node:http"
import { requestHeaders } from "./headers.ts"
import { plainRequestHead } from "./plain-request.ts"
import { untagPath } from "./session-tag.ts"

/** How a request goes to its machine: what its head and its route say of that, and no time, body or limit. */
export interface Way {
  readonly route: Route
  readonly machine: MachineAddress
  readonly addressing: Addressing
  /** As the machine sees it. */
  readonly path: string
  /** As the client sent it: it may name a session's machine. */
  readonly sentPath: string
  /** Flat list of names and values, without framing. */
  readonly headers: ReadonlyArray<string>
  /** Of a POST up to its length, if it may be written as it is. */
  readonly plainHead: string | undefined
  /** The client reads an event stream that may have to be rewritten. */
  readonly rewrites: boolean
}

interface Source {
  readonly from: AddressingSource
  /** The path of the public URL. */
  readonly base: string
  readonly trustProxy: number
}

/** The last one of each route: what is known of a machine's answer is known for the same addressing. */
const shared = new WeakMap<Route, Addressing>()

const isSame = (one: Addressing, other: Addressing) =>
  one.machineHost === other.machineHost && one.clientHost === other.clientHost && one.scheme === other.scheme &&
  one.prefix === other.prefix

const sharedAddressing = (route: Route, made: Addressing) => {
  const last = shared.get(route)
  if (last !== undefined && isSame(last, made)) return last
  shared.set(route, made)
  return made
}

export const wayFinder =
  ({ base, from, trustProxy }: Source) =>
  (route: Route, machine: MachineAddress, { form, path, slug }: Target, req: IncomingMessage): Way => {
    const prefix = form === "path" ? `${base}/s/${slug}` : ""
    const addressing = sharedAddressing(route, addressingOf(req, from, route.host, prefix))
    // A stream of the legacy transport begins with an address, which must be rewritten to the client's URL.
    const rewrites = req.method === "GET"
    const readable = rewrites && /text\/event-stream/i.test(req.headers.accept ?? "")
    const headers = requestHeaders(req, { addressing, trustProxy, readable, replayToken: route.replayToken })
    const untagged = untagPath(path)
    const plainHead = req.method === "POST" ? plainRequestHead(untagged, headers) : undefined
    return { route, machine, addressing, path: untagged, sentPath: path, headers, plainHead, rewrites }
  }
