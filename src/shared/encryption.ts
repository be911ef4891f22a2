import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from "node:crypto"

/** A key-encryption key. The id identifies it in records and reveals nothing else. */
export interface SealingKey {
  /** First 8 hex digits of the key's SHA-256. */
  readonly id: string
  readonly bytes: Uint8Array
  /** For fingerprints. */
  readonly mac: Uint8Array
}

const derived = (secret: Uint8Array, purpose: string) =>
  new Uint8Array(hkdfSync("sha256", secret, new Uint8Array(), `berth/${purpose}/v1`, 32))

export const sealingKey = (secret: Uint8Array): SealingKey => ({
  id: createHash("sha256").update(secret).digest("hex").slice(0, 8),
  // The secret itself encrypts nothing, so it may serve other purposes under other names.
  bytes: derived(secret, "envelope"),
  mac: derived(secret, "fingerprint")
})

/** HMAC-SHA-256: equal for equal texts; without the key nobody can test guesses. */
export const fingerprint = ({ mac }: SealingKey, text: string) => createHmac("sha256", mac).update(text).digest()

const cipher = "aes-256-gcm"
const nonceBytes = 12
const tagBytes = 16

/** nonce ‖ ciphertext ‖ tag. Random nonces are safe here: a data key encrypts once, a wrapping key < 2³² times. */
const encrypt = (key: Uint8Array, plain: Uint8Array, context: string) => {
  const nonce = randomBytes(nonceBytes)
  const aes = createCipheriv(cipher, key, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(context))
  return Buffer.concat([nonce, aes.update(plain), aes.final(), aes.getAuthTag()])
}

const decrypt = (key: Uint8Array, box: Uint8Array, context: string): Buffer | undefined => {
  if (box.length < nonceBytes + tagBytes) return undefined
  const aes = createDecipheriv(cipher, key, box.subarray(0, nonceBytes), { authTagLength: tagBytes })
    .setAAD(Buffer.from(context)).setAuthTag(box.subarray(box.length - tagBytes))
  try {
    return Buffer.concat([aes.update(box.subarray(nonceBytes, box.length - tagBytes)), aes.final()])
  } catch {
    return undefined
  }
}

const form = /^v1\.([0-9a-f]{8})\.([\w-]+)\.([\w-]+)$/

/** The parts of `v1.{key id}.{wrapped data key}.{box}`, base64url, or undefined for anything else. */
export const parse = (sealed: string) => {
  const [, keyId, wrapped, box] = form.exec(sealed) ?? []
  return keyId === undefined || wrapped === undefined || box === undefined ? undefined : { keyId, wrapped, box }
}

const wrapContext = (keyId: string) => `v1 key ${keyId}`
const boxContext = (context: string) => `v1 box ${context}`

const wrap = (key: SealingKey, dataKey: Uint8Array) =>
  `v1.${key.id}.${encrypt(key.bytes, dataKey, wrapContext(key.id)).toString("base64url")}`

const unwrap = (key: SealingKey, wrapped: string) => {
  const dataKey = decrypt(key.bytes, Buffer.from(wrapped, "base64url"), wrapContext(key.id))
  return dataKey?.length === 32 ? dataKey : undefined
}

export const seal = (key: SealingKey, plain: string, context: string): string => {
  const dataKey = randomBytes(32)
  return `${wrap(key, dataKey)}.${encrypt(dataKey, Buffer.from(plain), boxContext(context)).toString("base64url")}`
}

/** Undefined when the record was altered or sealed for another context. */
export const open = (key: SealingKey, sealed: string, context: string): string | undefined => {
  const parts = parse(sealed)
  const dataKey = parts === undefined ? undefined : unwrap(key, parts.wrapped)
  if (parts === undefined || dataKey === undefined) return undefined
  return decrypt(dataKey, Buffer.from(parts.box, "base64url"), boxContext(context))?.toString("utf8")
}

/** The same box under another wrapping key: the plaintext is never touched. */
export const rewrap = (from: SealingKey, to: SealingKey, sealed: string): string | undefined => {
  const parts = parse(sealed)
  const dataKey = parts === undefined ? undefined : unwrap(from, parts.wrapped)
  return parts === undefined || dataKey === undefined ? undefined : `${wrap(to, dataKey)}.${parts.box}`
}
