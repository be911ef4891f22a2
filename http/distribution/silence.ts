import { type IncomingMessage } from "node:http"

/** How long a body may be silent before its connection counts as lost. */
const silentMillis = 60_000

/** Ends a request whose body has stopped to come; call the answer once nobody reads it any more. */
export const cutWhenSilent = (req: IncomingMessage, millis = silentMillis) => {
  let read = req.socket.bytesRead
  const timer = setInterval(() => {
    const now = req.socket.bytesRead
    // What is paused waits for us, and not for its sender.
    if (now === read && !req.complete && req.readableLength === 0) req.destroy()
    read = now
  }, millis)
  const stop = () => clearInterval(timer)
  req.once("close", stop)
  return stop
}
