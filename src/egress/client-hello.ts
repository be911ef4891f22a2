/** What a client says it wants of TLS: a name, or why none can be read. */
export type ServerName = { readonly name: string } | { readonly problem: string }

const problem = (text: string): ServerName => ({ problem: text })
const truncated = problem("its TLS handshake is malformed")

const handshakeRecord = 22
const clientHello = 1
const serverNameExtension = 0
const longestRecord = 16_384 + 256
const longestHello = 32_768

/** A hello is in one or two. All that came are looked at again with each byte that comes. */
const mostRecords = 128

const tooLarge = problem("its TLS handshake is too large")

/** The length that the message's header says, with the header; undefined while it has not come. */
const wantedOf = (parts: ReadonlyArray<Buffer>, size: number) =>
  size < 4 ? undefined : 4 + Buffer.concat(parts).readUIntBE(1, 3)

/** The handshake message out of its records (RFC 8446 § 5.1); undefined while more has to come. */
const reassemble = (bytes: Buffer): Buffer | ServerName | undefined => {
  const parts: Array<Buffer> = []
  let size = 0
  let wanted: number | undefined
  for (let at = 0; at < bytes.length;) {
    if (bytes[at] !== handshakeRecord || at + 1 < bytes.length && bytes[at + 1] !== 3) return problem("it is not TLS")
    if (at + 5 > bytes.length) return undefined
    const length = bytes.readUInt16BE(at + 3)
    if (length === 0 || length > longestRecord) return truncated
    const part = bytes.subarray(at + 5, at + 5 + length)
    if (parts.push(part) > mostRecords) return problem("its TLS handshake is in too many records")
    size += part.length
    if (size > 0 && parts[0]?.[0] !== clientHello) return problem("it does not begin TLS")
    wanted ??= wantedOf(parts, size)
    if (wanted !== undefined && wanted > longestHello) return tooLarge
    if (wanted !== undefined && size >= wanted) return Buffer.concat(parts).subarray(4, wanted)
    at += 5 + length
  }
  return undefined
}

/** Reads lengths and skips what they say; -1 once the bytes have ended. */
const cursor = (bytes: Buffer) => {
  let at = 0
  const take = (count: number) => {
    const from = at
    at = at + count > bytes.length ? Infinity : at + count
    return at === Infinity ? -1 : bytes.readUIntBE(from, count)
  }
  return {
    number: take,
    /** A vector with a length of so many bytes in front. */
    vector: (width: number): Buffer | undefined => {
      const length = take(width)
      if (length < 0 || at + length > bytes.length) return undefined
      const found = bytes.subarray(at, at + length)
      at += length
      return found
    },
    skip: (count: number) => void (at += count),
    ended: () => at >= bytes.length
  }
}

const hostName = (list: Buffer | undefined): ServerName => {
  const names = list === undefined ? undefined : cursor(list).vector(2)
  if (names === undefined) return truncated
  const entry = cursor(names)
  const type = entry.number(1)
  const name = entry.vector(2)
  return type === 0 && name !== undefined && name.length > 0 ? { name: name.toString("latin1") } : truncated
}

/**
 * The server name (SNI, RFC 6066 § 3) of a connection's first bytes, however they are cut into records; undefined
 * while more has to come.
 */
export const serverName = (bytes: Buffer): ServerName | undefined => {
  const hello = reassemble(bytes)
  if (hello === undefined || !Buffer.isBuffer(hello)) return hello
  const fields = cursor(hello)
  fields.skip(2 + 32)
  const [session, ciphers, compression] = [fields.vector(1), fields.vector(2), fields.vector(1)]
  if (session === undefined || ciphers === undefined || compression === undefined) return truncated
  if (fields.ended()) return problem("it says no server name (TLS SNI)")
  const all = fields.vector(2)
  if (all === undefined) return truncated
  const extensions = cursor(all)
  while (!extensions.ended()) {
    const type = extensions.number(2)
    const value = extensions.vector(2)
    if (value === undefined) return truncated
    if (type === serverNameExtension) return hostName(value)
  }
  return problem("it says no server name (TLS SNI)")
}

/** The fatal alert access_denied (RFC 8446 § 6.2), so that a client's error says more than a broken connection. */
export const accessDenied = Buffer.from([21, 3, 3, 0, 2, 2, 49])
