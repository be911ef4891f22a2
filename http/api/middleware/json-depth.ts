const quote = 0x22
const backslash = 0x5c

/**
 * Whether a JSON text nests deeper than so many levels (RFC 8259 §9 lets a parser set a limit). Decoding a body, and
 * formatting its errors, is recursive: a caller must not control the depth of the stack.
 */
export const deeperThan = (text: string, levels: number) => {
  let depth = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (inString) {
      if (code === backslash) at++
      else if (code === quote) inString = false
    } else if (code === quote) inString = true
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > levels) return true
    } else if (code === 0x5d || code === 0x7d) depth--
  }
  return false
}
