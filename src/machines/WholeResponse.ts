/** The values of a header, which the machine may have sent several times (RFC 9110 §5.3). */
class ReceivedHeaders extends Headers {
  readonly #raw: ReadonlyArray<string>

  constructor(raw: ReadonlyArray<string>) {
    super()
    this.#raw = raw
  }

  override readonly get = (name: string) => {
    const wanted = name.toLowerCase()
    const values = this.#raw.filter((_, at) => at % 2 === 1 && this.#raw[at - 1]!.toLowerCase() === wanted)
    return values.length === 0 ? null : values.join(", ")
  }

  override readonly has = (name: string) => this.get(name) !== null
}

/**
 * A response that was read to its end, without a body to stream. A `Response` of the same bytes would make a web stream of
 * them, and check and sort headers of which two are looked at, which costs as much as half of a request within this process.
 */
export class WholeResponse extends Response {
  readonly bytesRead: Buffer
  override readonly headers: Headers

  constructor(bytes: Buffer, status: number, rawHeaders: ReadonlyArray<string>) {
    super(null, { status })
    this.bytesRead = bytes
    this.headers = new ReceivedHeaders(rawHeaders)
  }

  override readonly arrayBuffer = () => Promise.resolve(new Uint8Array(this.bytesRead).buffer)
  override readonly text = () => Promise.resolve(new TextDecoder().decode(this.bytesRead))
  override readonly json = async () => JSON.parse(await this.text()) as unknown
}
