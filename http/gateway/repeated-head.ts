import { type AccessTokenClaims } from "#src/oauth/AccessTokens.ts"
import { type Route } from "#src/routing/Route.ts"
import { type Target } from "#src/servers/locate.ts"
import { type IncomingMessage } from "node:http"
import { type Socket } from "node:net"
import { type Match } from "./match.ts"
import { type Way } from "./way.ts"

/** What was decided of a head that let its request pass, for as long as the route and the token's claims are the same. */
export interface Decided {
  /** As it was found by name; the way may lead to a machine of it that drains. */
  readonly route: Route
  readonly token: string
  /** Undefined: the machine checks the token. */
  readonly claims: AccessTokenClaims | undefined
  readonly target: Target
  readonly way: Way
}

/** A length that is a length to everybody, and says that there is a body. */
const plainLength = /^[1-9]\d{0,14}$/

/** Where the only length is in a list of names and values; undefined: there is none, or more than one. */
const lengthIn = (rawHeaders: ReadonlyArray<string>) => {
  let at: number | undefined
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.length !== 14 || rawHeaders[i]!.toLowerCase() !== "content-length") continue
    if (at !== undefined) return undefined
    at = i + 1
  }
  return at
}

/**
 * A head that a connection sends again and again: a client's calls differ in their bodies. All that follows from a head
 * follows from one that is the same to the byte, but for the number in `Content-Length`.
 */
export class RepeatedHead {
  readonly match: Match
  /** It came again: what it leads to is worth keeping. */
  isRepeated = false
  decided: Decided | undefined
  readonly #url: string | undefined
  readonly #headers: ReadonlyArray<string>
  readonly #lengthAt: number

  private constructor(req: IncomingMessage, match: Match, lengthAt: number) {
    this.match = match
    this.#url = req.url
    this.#headers = req.rawHeaders
    this.#lengthAt = lengthAt
  }

  /** Of a message with a length; undefined: nothing is known of other requests. */
  static of(req: IncomingMessage, match: Match): RepeatedHead | undefined {
    if (req.method !== "POST" || req.httpVersion !== "1.1") return undefined
    const lengthAt = lengthIn(req.rawHeaders)
    return lengthAt !== undefined && plainLength.test(req.rawHeaders[lengthAt]!)
      ? new RepeatedHead(req, match, lengthAt)
      : undefined
  }

  isThatOf({ httpVersion, method, rawHeaders, url }: IncomingMessage): boolean {
    const known = this.#headers
    if (url !== this.#url || method !== "POST" || httpVersion !== "1.1" || rawHeaders.length !== known.length) {
      return false
    }
    for (let i = 0; i < known.length; i++) {
      if (rawHeaders[i] !== known[i] && !(i === this.#lengthAt && plainLength.test(rawHeaders[i]!))) return false
    }
    return true
  }
}

/** Finds what requests are for; what a connection asked before is found by its head. */
export const rememberingHeads = (find: (req: IncomingMessage) => Match | undefined) => {
  const last = new WeakMap<Socket, RepeatedHead>()
  return {
    match: (req: IncomingMessage): Match | undefined => {
      const { socket } = req
      const before = last.get(socket)
      if (before?.isThatOf(req) === true) {
        before.isRepeated = true
        return before.match
      }
      const match = find(req)
      const head = match?._tag === "Target" ? RepeatedHead.of(req, match) : undefined
      if (head !== undefined) last.set(socket, head)
      else if (before !== undefined) last.delete(socket)
      return match
    },
    /** The head that this request, whose match it is, has in common with the one before. */
    repeated: ({ socket }: IncomingMessage, match: Match): RepeatedHead | undefined => {
      const head = last.get(socket)
      return head?.isRepeated === true && head.match === match ? head : undefined
    },
    /** What was decided of a request's head, which its connection has sent before. */
    decided: (req: IncomingMessage): Decided | undefined => {
      const head = last.get(req.socket)
      return head?.decided !== undefined && head.isThatOf(req) ? head.decided : undefined
    }
  } as const
}
