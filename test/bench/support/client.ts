import { Agent, request } from "node:http"
import { text } from "node:stream/consumers"

/** A client on so many connections. Each request comes from an address of its own, or the rate limit would be measured. */
export const benchClient = (connections: number) => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  let address = 0
  return {
    /** The body of an answer with 200; anything else fails. */
    get: (port: number, path: string, token?: string) =>
      new Promise<string>((resolve, reject) => {
        address++
        const headers = {
          "x-forwarded-for": `10.${address >> 16 & 255}.${address >> 8 & 255}.${address & 255}`,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` })
        }
        request({ agent, host: "127.0.0.1", port, path, headers }, (answer) =>
          void text(answer).then((body) =>
            answer.statusCode === 200 ? resolve(body) : reject(new Error(body))
          ))
          .on("error", reject).end()
      }),
    close: () => agent.destroy()
  }
}
