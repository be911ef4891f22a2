import { prepared } from "#src/format/prepared.ts"
import type pg from "pg"

/** A connection keeps the plans of so many statements; others are planned at each use. */
const maxPrepared = 200

const names = new Map<string, string>()

/** The name of a statement, the same on each connection. */
const nameOf = (text: string): string | undefined => {
  const known = names.get(text)
  if (known !== undefined || names.size >= maxPrepared || !text.startsWith(prepared)) return known
  const name = `berth_${names.size + 1}`
  names.set(text, name)
  return name
}

/** Sends marked statements by name: PostgreSQL has their text and plan after the first use on a connection. */
export const prepareMarked = (client: pg.PoolClient) => {
  const query: (...args: ReadonlyArray<unknown>) => unknown = client.query.bind(client)
  const named = (first: unknown, ...rest: ReadonlyArray<unknown>) => {
    const name = typeof first === "string" ? nameOf(first) : undefined
    return query(name === undefined ? first : { name, text: first }, ...rest)
  }
  client.query = named as typeof client.query
}
