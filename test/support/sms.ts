import { createServer } from "node:http"
import { type AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { afterAll } from "vitest"

interface Message {
  readonly authorization: string | undefined
  readonly form: Readonly<Record<string, string>>
}

/** A gateway for text messages that keeps what it is sent. */
export const useSmsGateway = async () => {
  const messages: Array<Message> = []
  const state = { answers: 201 as number | "nothing" }
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      messages.push({
        authorization: request.headers.authorization,
        form: Object.fromEntries(new URLSearchParams(body))
      })
      if (state.answers === "nothing") response.destroy()
      else response.writeHead(state.answers).end("{}")
    })
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  afterAll(() => void server.close())
  const { port } = server.address() as AddressInfo
  return {
    /** What `SMS_URL` is to be. */
    url: `http://AC1:s%40cret@127.0.0.1:${port}/Messages.json?From=%2B15550001`,
    messages,
    /** The code in the last message. */
    lastCode: () => /^\d{6}/.exec(messages.at(-1)?.form["Body"] ?? "")?.[0] ?? "",
    /** What it answers while the work is done; `nothing` cuts the connection. */
    answering: async <A>(answers: number | "nothing", work: () => Promise<A>) => {
      state.answers = answers
      try {
        return await work()
      } finally {
        state.answers = 201
      }
    }
  }
}

let lastNumber = 0
/** A telephone number that nobody used before. */
export const freshNumber = () => `+1555${String(++lastNumber).padStart(7, "0")}`
