import { Redacted } from "effect"
import { isIPv4 } from "node:net"

/** Credentials for an image's registry. */
export interface Login {
  readonly username: string
  readonly password: Redacted.Redacted
  /** What the account calls them; the registry's host where it has no other name. */
  readonly name?: string
}

/** Basic authentication (RFC 7617), in UTF-8. */
export const basic = ({ password, username }: Login) =>
  `Basic ${Buffer.from(`${username}:${Redacted.value(password)}`).toString("base64")}`

const isLoopback = ({ hostname }: URL) =>
  hostname === "localhost" || hostname === "[::1]" || isIPv4(hostname) && hostname.startsWith("127.")

/** Whether nobody on the way can read what is sent there; `loopback`: whether this machine's own addresses count. */
export const isConfidential = (url: string, loopback: boolean) => {
  const target = new URL(url)
  return target.protocol === "https:" || loopback && isLoopback(target)
}
