const nothing = Buffer.alloc(0)

/** Reads a stream by counts of bytes. */
export const byteReader = (source: AsyncIterable<unknown>) => {
  const chunks = (source as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
  let rest: Buffer = nothing
  /** Bytes that have come, `most` at most; none at the end. */
  const some = async (most: number): Promise<Buffer> => {
    while (rest.length === 0) {
      const next = await chunks.next()
      if (next.done === true) return rest
      rest = next.value
    }
    const taken = rest.subarray(0, most)
    rest = rest.subarray(taken.length)
    return taken
  }
  return {
    some,
    /** So many bytes; fewer at the end. */
    exactly: async (count: number) => {
      const parts: Array<Buffer> = []
      for (let left = count; left > 0;) {
        const part = await some(left)
        if (part.length === 0) break
        parts.push(part)
        left -= part.length
      }
      return Buffer.concat(parts)
    }
  }
}

export type ByteReader = ReturnType<typeof byteReader>
