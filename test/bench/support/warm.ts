import type pg from "pg"

/** Reads the directory into the database's memory, where it is after some thousands of questions. */
export const warm = async (pool: pg.Pool) => {
  await pool.query("CREATE EXTENSION IF NOT EXISTS pg_prewarm")
  await pool.query(
    `SELECT pg_prewarm(oid) FROM pg_class
     WHERE relkind IN ('r', 'i') AND relname ~ '^(directory|listing|business|composite)'`
  )
  await pool.query("DROP EXTENSION pg_prewarm")
}
