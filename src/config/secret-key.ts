/** The 32 bytes of a `SECRET_KEY` in base64 or base64url, or undefined when the text is anything else. */
export const parseSecretKey = (text: string): Uint8Array | undefined => {
  const bytes = Buffer.from(text.trim(), "base64")
  return bytes.length === 32 ? bytes : undefined
}
