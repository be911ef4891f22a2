/**
 * A response that was read to its end, without a body to stream. A `Response` of the same bytes would make a web stream of
 * them, which costs as much as a third of a request within this process.
 */
export class WholeResponse extends Response {
  readonly bytesRead: Buffer

  constructor(bytes: Buffer, init: ResponseInit) {
    super(null, init)
    this.bytesRead = bytes
  }

  override readonly arrayBuffer = () => Promise.resolve(new Uint8Array(this.bytesRead).buffer)
  override readonly text = () => Promise.resolve(new TextDecoder().decode(this.bytesRead))
  override readonly json = async () => JSON.parse(await this.text()) as unknown
}
