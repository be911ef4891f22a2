/** Bytes since the last border that are looked at: an event that is longer counts as one that has begun. */
const longest = 1024
/** A line with a field: neither empty nor a comment. */
const field = /^[^:\r\n]/m
/** A line end, and an empty line after it. A CR may be the first half of a line end. */
const emptyLine = /(?:(\r\n|\n|\r(?!\n))(?:\r\n|\n)|(\r)\r)$/
const upToEmptyLine = /^[^]*(?:(?:\r\n|\n|\r(?!\n))(?:\r\n|\n)|\r\r)/
const commentStarts = new Set([..."\r\n:"].map((letter) => letter.charCodeAt(0)))

/** Where an event stream is, by its bytes so far (WHATWG HTML, server-sent events). Of most chunks it reads a few bytes. */
export class EventBorder {
  /** What came since the last empty line, a character for each byte; of a long event, that it is one. */
  #since = ""
  #lineEnd = "\n"

  /** Whether anything but comments came. */
  push(chunk: Buffer): boolean {
    if (chunk.length === 0) return false
    const before = this.#since
    const first = before === "" ? chunk[0]! : before.charCodeAt(0)
    const says = !commentStarts.has(first) || field.test(before + chunk.toString("latin1"))
    const last = before.slice(-3) + chunk.toString("latin1", Math.max(0, chunk.length - 4))
    const [, lineEnd, bare] = emptyLine.exec(last) ?? []
    const end = lineEnd ?? bare
    this.#since = end === undefined ? this.#added(before, chunk) : ""
    this.#lineEnd = end ?? this.#lineEnd
    return says
  }

  /** Whether a comment may come here: no event has begun, and no line. */
  get isHere() {
    return this.#since === "" || this.#since.endsWith("\n") && !field.test(this.#since)
  }

  /** A comment, with the line ends of this stream, by which some readers know its events. */
  get comment() {
    return `:${this.#lineEnd}${this.#lineEnd}`
  }

  #added(before: string, chunk: Buffer) {
    const isLong = chunk.length > longest
    const all = isLong ? `x${chunk.toString("latin1", chunk.length - longest)}` : before + chunk.toString("latin1")
    const since = all.replace(upToEmptyLine, "")
    return since.length > longest ? `x${since.slice(-3)}` : since
  }
}
