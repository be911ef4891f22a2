import type pg from "pg"

/** How long a statement may take. Who needs longer says so to the server, with SET LOCAL in a transaction. */
export const usualMillis = 15_000
/** How much longer the server's own answer, that it took too long, is waited for. */
const spareMillis = 2_000

const limitSet = /^\s*SET LOCAL statement_timeout = '?(\d+)'?/i
const transactionEnds = /^\s*(COMMIT|ROLLBACK)\s*;?\s*$/i

const textOf = (query: unknown) =>
  typeof query === "string"
    ? query
    : typeof query === "object" && query !== null && "text" in query
    ? String(query.text)
    : ""

type Callback = (error: Error | null, result?: unknown) => void
const isCallback = (value: unknown): value is Callback => typeof value === "function"

/**
 * Gives a connection up when the server says nothing at all: the network to it is silent, or it hangs. What waits on it
 * fails, and the pool makes another. The server is told the same limits and is heard first while it is alive.
 */
export const giveUpOnSilence = (client: pg.PoolClient & Pick<pg.Client, "end">, usual = usualMillis) => {
  let limit = usual
  const query: (...args: ReadonlyArray<unknown>) => unknown = client.query.bind(client)
  const limited = (...args: ReadonlyArray<unknown>) => {
    const text = textOf(args[0])
    const set = limitSet.exec(text)?.[1]
    // 0 is no limit, as it is to the server.
    if (set !== undefined) limit = set === "0" ? Infinity : Number(set)
    const callback = args.at(-1)
    const millis = limit + spareMillis
    if (transactionEnds.test(text)) limit = usual
    if (!isCallback(callback) || millis === Infinity) return query(...args)
    let silent = false
    const timer = setTimeout(() => {
      silent = true
      // With a statement under way this breaks the connection off, whose end fails the statement.
      void client.end().catch(() => undefined)
    }, millis)
    return query(...args.slice(0, -1), (error: Error | null, result?: unknown) => {
      clearTimeout(timer)
      callback(silent ? new Error(`timeout: the database said nothing for ${millis / 1000} seconds`) : error, result)
    })
  }
  client.query = limited as typeof client.query
}
