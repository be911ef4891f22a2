/** A longer event is not an `endpoint` event. */
const maxEventLength = 16 * 1024

const fieldOf = (line: string) => {
  const colon = line.indexOf(":")
  if (colon === -1) return { name: line, value: "" }
  return { name: line.slice(0, colon), value: line.slice(colon + 1).replace(/^ /, "") }
}

/** Rewrites the `data` of a block of lines when it is an `endpoint` event; else returns it unchanged. */
const rewriteBlock = (block: string, rewrite: (data: string) => string) => {
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
 * Reads an event stream up to its first event, which is `endpoint` in the HTTP+SSE transport of 2024-11-05, and
 * rewrites its address. Comments before it pass at once; all after it passes unchanged.
 */
export const endpointRewriter = (rewrite: (data: string) => string) => {
  let buffered: string | undefined = ""

  /** Latin-1 keeps every byte as it is, so that a chunk may end within a character. */
  return {
    push: (chunk: Buffer): Buffer => {
      if (buffered === undefined) return chunk
      buffered += chunk.toString("latin1")
      let out = ""
      for (;;) {
        // Comments, and blank lines between them, are not part of an event.
        const idle = /^(?::[^\r\n]*)?(?:\r\n|\n|\r(?!$))/.exec(buffered)
        if (idle === null) break
        out += idle[0]
        buffered = buffered.slice(idle[0].length)
      }
      const end = /\r\n\r\n|\n\n|\r\r/.exec(buffered)
      if (end !== null) {
        const after = end.index + end[0].length
        out += rewriteBlock(buffered.slice(0, after), rewrite) + buffered.slice(after)
        buffered = undefined
      } else if (buffered.length > maxEventLength) {
        out += buffered
        buffered = undefined
      }
      return Buffer.from(out, "latin1")
    },
    /** The buffered rest when the stream ends within its first event. */
    end: (): Buffer => Buffer.from(buffered ?? "", "latin1")
  }
}
