import { Effect } from "effect"
import { type Readable } from "node:stream"

/**
 * One request at a time writes an upload, and the newest wins: a client that sends again has given up the connection
 * before, whose end the platform may not have noticed.
 */
export const makeTurns = () => {
  const writing = new Map<string, { readonly cut: () => void; readonly ended: Promise<void> }>()

  const begin = async (id: string, bytes: Readable | undefined) => {
    for (let before = writing.get(id); before !== undefined; before = writing.get(id)) {
      before.cut()
      await before.ended
    }
    let end = () => {}
    const ended = new Promise<void>((resolve) => end = resolve)
    writing.set(id, { cut: () => void (bytes?.readableEnded === false && bytes.destroy()), ended })
    return () => {
      writing.delete(id)
      end()
    }
  }

  return {
    take: (id: string, bytes?: Readable) => <A, E, R>(work: Effect.Effect<A, E, R>) =>
      Effect.acquireUseRelease(Effect.promise(() => begin(id, bytes)), () => work, (end) => Effect.sync(end)),
    isTaken: (id: string) => writing.has(id)
  }
}
export type Turns = ReturnType<typeof makeTurns>
