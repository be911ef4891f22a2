/** Of a chunk's extensions, or of one trailer: neither is passed on (RFC 9112 §7.1.1, §7.1.2). */
const longestLine = 8 * 1024
const mostTrailers = 100

const sizeLine = /^([\da-f]{1,12})(;[\t\x20-\x7e\x80-\xff]*)?$/i
const trailer = /^[\w!#$%&'*+.^`|~-]+:[\t\x20-\x7e\x80-\xff]*$/

const [cr, lf] = [13, 10]

/** What comes next: a size, data, the end of its line, or a line of the trailer section. */
type Expected = "size" | "data" | "end" | "trailer"

/** Reads a chunked body (RFC 9112 §7.1) in pieces that end anywhere, and nothing but that. */
export class ChunkedBody {
  #expected: Expected = "size"
  /** Bytes of the chunk that are still to come. */
  #left = 0
  #line = ""
  #trailers = 0

  /** Tells the data in a piece. The answer is where the body ended in it, "more", or "broken". */
  push(piece: Buffer, onData: (data: Buffer) => void): number | "more" | "broken" {
    let at = 0
    while (at < piece.length) {
      if (this.#expected === "data") {
        const end = Math.min(piece.length, at + this.#left)
        onData(piece.subarray(at, end))
        this.#left -= end - at
        at = end
        if (this.#left === 0) this.#expected = "end"
        continue
      }
      const end = piece.indexOf(lf, at)
      const next = end === -1 ? piece.length : end + 1
      this.#line += piece.toString("latin1", at, next)
      at = next
      if (this.#line.length > longestLine) return "broken"
      if (end === -1) return "more"
      const line = this.#whole()
      if (line === undefined || !this.#take(line)) return "broken"
      if (this.#expected === "trailer" && line === "") return at
    }
    return "more"
  }

  /** Without its end, which must be both characters. */
  #whole() {
    const line = this.#line
    this.#line = ""
    return line.charCodeAt(line.length - 2) === cr ? line.slice(0, -2) : undefined
  }

  #take(line: string): boolean {
    if (this.#expected === "trailer") return line === "" || ++this.#trailers <= mostTrailers && trailer.test(line)
    if (this.#expected === "end") {
      this.#expected = "size"
      return line === ""
    }
    const [, size] = sizeLine.exec(line) ?? []
    if (size === undefined) return false
    this.#left = Number.parseInt(size, 16)
    this.#expected = this.#left === 0 ? "trailer" : "data"
    return true
  }
}
