import pg from "pg"

/** Runs one statement on a test's database, for what no door lets a caller do. */
export const runSql = async (url: string, statement: string, values: ReadonlyArray<unknown> = []) => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(statement, [...values])).rows
  } finally {
    await client.end()
  }
}

/** Holds what a statement locks until it is released. */
export const holdLock = async (url: string, statement: string, values: ReadonlyArray<unknown>) => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query("BEGIN")
  await client.query(statement, [...values])
  return async () => {
    await client.query("COMMIT")
    await client.end()
  }
}
