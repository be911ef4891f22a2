import { createHash, randomBytes, randomInt } from "node:crypto"

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** SHA-256 of a credential: the only form in which one is stored. */
export const digestOf = (secret: string) => createHash("sha256").update(secret).digest()

/** 256 random bits, base64url. */
export const randomToken = () => randomBytes(32).toString("base64url")

/** CRC-32 (ISO-HDLC, as in zlib) of a text's bytes. */
const crc32 = (text: string) => {
  let crc = 0xffffffff
  for (const byte of Buffer.from(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return (crc ^ 0xffffffff) >>> 0
}

const checksum = (text: string) => {
  let rest = crc32(text)
  let out = ""
  for (let i = 0; i < 6; i++) {
    out = base62.charAt(rest % 62) + out
    rest = Math.floor(rest / 62)
  }
  return out
}

/** `{prefix}` + 30 random base62 characters (178 bits) + a 6-character checksum, so that typos are detected. */
export const newKey = (prefix: string) => {
  const body = prefix + Array.from({ length: 30 }, () => base62.charAt(randomInt(62))).join("")
  return body + checksum(body)
}

/** Whether a text has the form of one of our keys, with a valid checksum. */
export const isKey = (prefixes: ReadonlyArray<string>, text: string) => {
  const prefix = prefixes.find((candidate) => text.startsWith(candidate))
  return prefix !== undefined && text.length === prefix.length + 36 &&
    /^[0-9A-Za-z]+$/.test(text.slice(prefix.length)) && checksum(text.slice(0, -6)) === text.slice(-6)
}
