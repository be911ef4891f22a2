import { version } from "#src/config/version.ts"
import { machineHost } from "#src/machines/host.ts"
import { machineFetch } from "#src/machines/machine-fetch.ts"
import { type MachineAddress } from "#src/machines/Machines.ts"
import { type Addressing, forwardingHeaders, rewriteAddress, rewriteEndpoint } from "#src/routing/addressing.ts"

/** A machine that does not serve yet, and what its requests will say once it does. */
export interface DoorOptions {
  readonly address: MachineAddress
  /** On which its server listens inside. */
  readonly port: number
  /** The server's canonical URL, without a trailing slash. */
  readonly publicUrl: string
  /** The server's `PLATFORM_MCP_REPLAY_TOKEN`. */
  readonly replayToken: string
  /** An access token for the server; undefined when its authorization server is not ours. */
  readonly token: string | undefined
}

/** `fetch` of a server's public URL as its client, and a legacy `endpoint` as that client would see it. */
export interface Door {
  readonly url: string
  readonly fetch: (url: URL, init: RequestInit) => Promise<Response>
  readonly endpoint: (sent: string) => URL
}

/** An answer may be as large as a list of tools that the gateway reads. */
const maxBytes = 2 * 1024 * 1024
const mostRedirects = 3

/** 301 and 302 turn a POST into a GET (Fetch, HTTP-redirect fetch). */
const isRedirect = (status: number, method = "GET") =>
  status === 307 || status === 308 || method === "GET" && (status === 301 || status === 302)

const resolve = (address: string, base: URL) => {
  try {
    return new URL(address, base)
  } catch {
    throw new Error("it names an address that is no URL")
  }
}

export const makeDoor = ({ address, port, publicUrl, replayToken, token }: DoorOptions): Door => {
  const { host, origin, pathname, protocol } = new URL(publicUrl)
  const prefix = pathname === "/" ? "" : pathname
  const addressing: Addressing = {
    machineHost: machineHost(port),
    clientHost: host,
    scheme: protocol.slice(0, -1),
    prefix
  }
  const flat = forwardingHeaders(addressing, "127.0.0.1", replayToken)
  const headers = Object.fromEntries(flat.flatMap((name, i) => i % 2 === 0 ? [[name.toLowerCase(), flat[i + 1]!]] : []))
  const dial = machineFetch(address, {
    ...headers,
    "user-agent": `berth-handshake/${version}`,
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` })
  }, maxBytes)

  /** The machine's own path: what the gateway strips is stripped, and nothing else is asked of the machine. */
  const inside = ({ origin: at, pathname, search }: URL) => {
    if (at !== origin || prefix !== "" && !pathname.startsWith(`${prefix}/`)) {
      throw new Error("it names an address that is not the server's own")
    }
    return new URL(`http://machine${pathname.slice(prefix.length)}${search}`)
  }

  const fetch: Door["fetch"] = async (url, init) => {
    let at = url
    for (let hops = 0;; hops++) {
      const response = await dial(inside(at), init)
      const location = response.headers.get("location")
      if (location === null || !isRedirect(response.status, init.method) || hops === mostRedirects) return response
      await response.body?.cancel()
      at = resolve(rewriteAddress(addressing, location), at)
    }
  }

  const endpoint: Door["endpoint"] = (sent) => resolve(rewriteEndpoint(addressing, sent), new URL(`${publicUrl}/sse`))

  return { url: publicUrl, fetch, endpoint }
}
