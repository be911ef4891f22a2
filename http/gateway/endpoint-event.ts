/** An event that is longer is not the one we look for. */
const longest = 16 * 1024

const fieldOf = (line: string) => {
  const colon = line.indexOf(":")
  if (colon === -1) return { name: line, value: "" }
  return { name: line.slice(0, colon), value: line.slice(colon + 1).replace(/^ /, "") }
}

/** Rewrites the `data` of a block of lines when it is an `endpoint` event; else gives it back as it is. */
const rewritten = (block: string, rewrite: (data: string) => string) => {
  const parts = block.split(/(\r\n|\r|\n)/)
  const isEndpoint = parts.some((line) => {
    const { name, value } = fieldOf(line)
    return name === "event" && value === "endpoint"
  })
  if (!isEndpoint) return block
  return parts.map((line) => {
    const { name, value } = fieldOf(line)
    return name === "data" ? `data: ${rewrite(value)}` : line
  }).join("")
}

/**
 * Follows an event stream up to its first event, which the HTTP+SSE transport of 2024-11-05 makes `endpoint`, and
 * rewrites its address. Comments before it pass at once; whatever follows it passes untouched.
 */
export const endpointRewriter = (rewrite: (data: string) => string) => {
  let held: string | undefined = ""

  /** Latin-1 keeps every byte as it is, so that a chunk may end within a character. */
  return {
    push: (chunk: Buffer): Buffer => {
      if (held === undefined) return chunk
      held += chunk.toString("latin1")
      let out = ""
      for (;;) {
        // Comments, and blank lines between them, are no part of an event.
        const idle = /^(?::[^\r\n]*)?(?:\r\n|\n|\r(?!$))/.exec(held)
        if (idle === null) break
        out += idle[0]
        held = held.slice(idle[0].length)
      }
      const end = /\r\n\r\n|\n\n|\r\r/.exec(held)
      if (end !== null) {
        const after = end.index + end[0].length
        out += rewritten(held.slice(0, after), rewrite) + held.slice(after)
        held = undefined
      } else if (held.length > longest) {
        out += held
        held = undefined
      }
      return Buffer.from(out, "latin1")
    },
    /** What is left when the stream ends within its first event. */
    end: (): Buffer => Buffer.from(held ?? "", "latin1")
  }
}
