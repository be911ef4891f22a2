import { type Socket } from "node:net"

/** The first bytes of a connection, and what was read in them. */
export interface FirstBytes<A> {
  readonly value: A
  /** All bytes that came, those that were read included. */
  readonly bytes: Buffer
}

/**
 * Collects a connection's first bytes until `read` makes something of them. Undefined when it ends or stays silent
 * before that. `read` bounds their number. The socket is left paused.
 */
export const firstBytes = <A>(
  socket: Socket,
  read: (bytes: Buffer) => A | undefined,
  { before = Buffer.alloc(0), millis }: { readonly before?: Buffer; readonly millis: number }
): Promise<FirstBytes<A> | undefined> =>
  new Promise((resolve) => {
    let bytes = before
    const settle = (result: FirstBytes<A> | undefined) => {
      clearTimeout(timer)
      socket.pause()
      socket.off("data", onData).off("end", onEnd).off("close", onEnd)
      resolve(result)
    }
    const attempt = () => {
      const value = read(bytes)
      if (value !== undefined) settle({ value, bytes })
      return value !== undefined
    }
    const onData = (part: Buffer) => {
      bytes = Buffer.concat([bytes, part])
      attempt()
    }
    const onEnd = () => settle(undefined)
    const timer = setTimeout(onEnd, millis)
    if (bytes.length > 0 && attempt()) return
    if (socket.destroyed) return onEnd()
    socket.on("data", onData).on("end", onEnd).on("close", onEnd).resume()
  })
