import { send } from "../../support/http.ts"

export interface Reply {
  readonly at: number
  /** HTTP status; undefined when there was no connection to get one over. */
  readonly status: number | undefined
  /** Name of the business that answered. */
  readonly name: string | undefined
}

const call = { jsonrpc: "2.0", method: "tools/call", params: { name: "get_business", arguments: {} } }
let id = 0

/** Asks the restaurant for its name, through the gateway. */
export const ask = async (base: string, path: string, token: string | undefined): Promise<Reply> => {
  const at = Date.now()
  try {
    const { body, status } = await send<{ result?: { structuredContent?: { name?: string } } }>(base, "POST", path, {
      token,
      headers: { accept: "application/json, text/event-stream", connection: "close" },
      body: { ...call, id: ++id }
    })
    return { at, status, name: body?.result?.structuredContent?.name }
  } catch {
    return { at, status: undefined, name: undefined }
  }
}

/** Asks on and on, and keeps what came. */
export const keepAsking = (base: string, path: string, token: string) => {
  const replies: Array<Reply> = []
  let going = true
  const loop = (async () => {
    while (going) {
      replies.push(await ask(base, path, token))
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
  })()
  const stop = async () => {
    going = false
    await loop
  }
  return { replies, stop }
}
