import { type Addressing } from "#src/routing/addressing.ts"
import { corsFor } from "./cors.ts"
import { type Exchange } from "./exchange.ts"
import { type ResponseHead, responseHeaders } from "./headers.ts"

interface Known {
  readonly addressing: Addressing
  readonly headers: ReadonlyArray<string>
}

/** Of heads that come again (`Machine.readHead`): what they become for one addressing. */
const known = new WeakMap<ResponseHead, Known>()

/** The client's headers of an answer whose body may have another length, or that names a session. */
const made = (exchange: Exchange, head: ResponseHead, withoutLength: boolean) =>
  responseHeaders(head, exchange.way.addressing, { withoutLength, nameSession: (id) => exchange.nameSession(id) })

const remembered = (exchange: Exchange, head: ResponseHead) => {
  const { addressing } = exchange.way
  const before = known.get(head)
  if (before?.addressing === addressing) return before.headers
  const headers = made(exchange, head, false)
  if (!head.hasSession) known.set(head, { addressing, headers })
  return headers
}

/** The client's headers of an answer. `mayCome`: the same head may come again. */
export const outwardHead = (
  exchange: Exchange,
  head: ResponseHead,
  { mayCome, withoutLength }: { readonly mayCome: boolean; readonly withoutLength: boolean }
): ReadonlyArray<string> => {
  const headers = mayCome && !withoutLength ? remembered(exchange, head) : made(exchange, head, withoutLength)
  const cors = corsFor(exchange.req, head.hasCors)
  const isClosing = exchange.isClosing()
  if (cors.length === 0 && !isClosing) return headers
  return [...headers, ...cors, ...(isClosing ? ["Connection", "close"] : [])]
}
