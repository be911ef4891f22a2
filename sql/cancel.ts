import { Predicate } from "effect"
import pg from "pg"

/** So long a statement that nobody waits for may end by itself: most do, and PostgreSQL is not bothered. */
const graceMillis = 20
/** So long PostgreSQL has to take a request to cancel; what still runs after a second is asked about again. */
const answerMillis = 2_000
const againMillis = 1_000

/** By what PostgreSQL knows a connection (its protocol's BackendKeyData). */
interface Key {
  readonly processId: number
  readonly secret: number
}

const keyOf = (client: object): Key | undefined => {
  const processId = Predicate.hasProperty(client, "processID") ? client.processID : undefined
  const secret = Predicate.hasProperty(client, "secretKey") ? client.secretKey : undefined
  return typeof processId === "number" && typeof secret === "number" ? { processId, secret } : undefined
}

const cancelRequest = ({ processId, secret }: Key) => {
  const message = Buffer.alloc(16)
  for (const [at, word] of [16, 80877102, processId, secret].entries()) message.writeInt32BE(word, 4 * at)
  return message
}

/**
 * Asks PostgreSQL to cancel what a connection runs, by a connection that says so in place of its greeting: as `pg` makes
 * them, also through TLS and to a socket of the file system. PostgreSQL closes it when it has sent the signal. "late":
 * nobody knows whether the signal is still to come.
 */
const askToCancel = async (options: pg.ClientConfig, key: Key): Promise<"ended" | "late"> => {
  const messenger = new pg.Client(options)
  const { connection } = messenger
  let isSent = false
  let isOver = false
  Object.assign(connection, {
    startup: () => {
      isSent = true
      connection.stream.write(cancelRequest(key))
    }
  })
  const timer = setTimeout(() => {
    isOver = true
    connection.stream.destroy()
  }, answerMillis)
  // It never becomes a session: this fails when the connection ends.
  await messenger.connect().catch(() => undefined)
  clearTimeout(timer)
  connection.stream.destroy()
  return isSent && isOver ? "late" : "ended"
}

const isRollback = (query: unknown) => typeof query === "string" && /^\s*ROLLBACK\b/i.test(query)

type Callback = (error: Error | null, result?: unknown) => void
const isCallback = (value: unknown): value is Callback => typeof value === "function"

/**
 * Cancels the statements of a pool's connection that nobody waits for any more: those that run when it is given back,
 * or when a ROLLBACK is asked for. Only then, when the statement has ended and no signal can come any more, others get
 * the connection, or the ROLLBACK is sent (docs/decisions/cancelled-statements.md).
 */
export const cancelUnwanted = (client: pg.PoolClient, options: pg.ClientConfig) => {
  const key = keyOf(client)
  // `@effect/sql-pg` cancels by this number through the pool itself, later than it should; without it, it gives back.
  Object.assign(client, { processID: undefined })
  // While it is stopped neither the pool nor the library listens, and Node would exit. The pool sees that it broke.
  client.on("error", () => undefined)

  let running = 0
  let whenQuiet = () => {}
  const quietWithin = (millis: number) =>
    new Promise<void>((resolve) => {
      if (running === 0) return resolve()
      const timer = setTimeout(resolve, millis)
      whenQuiet = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  const stop = async () => {
    await quietWithin(graceMillis)
    while (running > 0) {
      // Closed, it is nobody's next connection, and the statement fails at once.
      if (key !== undefined && (await askToCancel(options, key)) === "late") void client.end().catch(() => undefined)
      await quietWithin(againMillis)
    }
  }

  const query: (...args: ReadonlyArray<unknown>) => unknown = client.query.bind(client)
  const send = (...args: ReadonlyArray<unknown>) => {
    const callback = args.at(-1)
    if (!isCallback(callback)) return query(...args)
    running += 1
    return query(...args.slice(0, -1), (error: Error | null, result?: unknown) => {
      running -= 1
      if (running === 0) whenQuiet()
      callback(error, result)
    })
  }
  const sendInTurn = (...args: ReadonlyArray<unknown>) => {
    if (running === 0 || !isRollback(args[0])) return send(...args)
    void stop().then(() => send(...args))
  }
  client.query = sendInTurn as typeof client.query

  let release = client.release
  // The pool sets it anew for each who gets the connection.
  Object.defineProperty(client, "release", {
    get: () => release,
    set: (giveBack: pg.PoolClient["release"]) => {
      release = (error) => {
        if (running === 0 || error === true || error instanceof Error) return giveBack(error)
        void stop().then(() => giveBack())
      }
    }
  })
}
