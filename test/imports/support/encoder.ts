/** Bytes of a text in an encoding that Node can only read: each character is looked up among all of the encoding's. */
export const encoder = (encoding: string) => {
  const bytesOf = new Map<string, ReadonlyArray<number>>()
  const learn = (...bytes: ReadonlyArray<number>) => {
    // In a stream: Node 20 takes a whole text in windows-1252 for ISO-8859-1.
    const text = new TextDecoder(encoding).decode(Uint8Array.from(bytes), { stream: true })
    if ([...text].length === 1 && text !== "\ufffd" && !bytesOf.has(text)) bytesOf.set(text, bytes)
  }
  for (let first = 0; first < 256; first++) learn(first)
  for (let first = 0x81; first < 0xff; first++) for (let second = 0x40; second < 0xff; second++) learn(first, second)
  return (text: string) =>
    Buffer.from([...text].flatMap((letter) => {
      const bytes = bytesOf.get(letter)
      if (bytes === undefined) throw new Error(`${encoding} has no ${letter}`)
      return bytes
    }))
}
