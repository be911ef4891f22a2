import type pg from "pg"

/** How much longer to wait, so that the server's own timeout error arrives first. */
const graceMillis = 1_000
/** The default statement timeout: callers wait for 15 seconds. Longer work uses SET LOCAL statement_timeout in a transaction. */
export const defaultMillis = 15_000 - graceMillis

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
 * Closes a connection when the server does not answer at all: the network is silent, or the server hangs. Waiting
 * queries fail, and the pool makes a new connection. A live server has the same limits and reports a timeout first.
 */
export const closeOnSilence = (client: pg.PoolClient & Pick<pg.Client, "end">, defaultLimit = defaultMillis) => {
  let limit = defaultLimit
  const query: (...args: ReadonlyArray<unknown>) => unknown = client.query.bind(client)
  const limited = (...args: ReadonlyArray<unknown>) => {
    const text = textOf(args[0])
    const set = limitSet.exec(text)?.[1]
    // 0 means no limit, as for the server.
    if (set !== undefined) limit = set === "0" ? Infinity : Number(set)
    const callback = args.at(-1)
    const millis = limit + graceMillis
    if (transactionEnds.test(text)) limit = defaultLimit
    if (!isCallback(callback) || millis === Infinity) return query(...args)
    let silent = false
    const timer = setTimeout(() => {
      silent = true
      // With a statement in flight this breaks the connection, and the statement fails.
      void client.end().catch(() => undefined)
    }, millis)
    return query(...args.slice(0, -1), (error: Error | null, result?: unknown) => {
      clearTimeout(timer)
      callback(silent ? new Error(`timeout: the database said nothing for ${millis / 1000} seconds`) : error, result)
    })
  }
  client.query = limited as typeof client.query
}
