import { type IncomingMessage } from "node:http"

/** How often a header was sent. Node joins or drops repetitions in `headers`; the raw list has all. */
export const timesSent = ({ rawHeaders }: IncomingMessage, name: string) => {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const sent = rawHeaders[i]!
    if (sent.length === name.length && sent.toLowerCase() === name) count++
  }
  return count
}
