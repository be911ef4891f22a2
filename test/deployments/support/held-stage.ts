import { setTimeout } from "node:timers/promises"
import pg from "pg"

/** Advisory lock that a held write waits for. */
const key = 1_313_131_313

const waiting = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = ${key} AND NOT granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

/**
 * Holds the platform exactly between two stages of a deployment, from within the database: the write of a stage waits
 * until it is let through or undone.
 */
export const holdStages = async (databaseUrl: string) => {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(`CREATE TABLE held_stage (stage text);
    CREATE FUNCTION hold_stage() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.stage IS DISTINCT FROM OLD.stage AND EXISTS (SELECT FROM held_stage WHERE stage = NEW.stage) THEN
        PERFORM pg_advisory_xact_lock(${key});
      END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER hold_stage BEFORE UPDATE ON deployments FOR EACH ROW EXECUTE FUNCTION hold_stage()`)

  const held = async () => (await client.query<{ pid: number }>(waiting)).rows.map(({ pid }) => pid)
  const noneHeld = async () => {
    while ((await held()).length > 0) await setTimeout(20)
  }
  return {
    /** From now on the first write of that stage waits. */
    hold: async (stage: string) => {
      await client.query("INSERT INTO held_stage VALUES ($1)", [stage])
      await client.query(`SELECT pg_advisory_lock(${key})`)
    },
    /** Until a write waits. */
    reached: async () => {
      while ((await held()).length === 0) await setTimeout(5)
    },
    /** Ends the session that writes, as where the platform died before it sent the write. */
    undo: async () => {
      await client.query("DELETE FROM held_stage")
      for (const pid of await held()) await client.query("SELECT pg_terminate_backend($1)", [pid])
      await noneHeld()
      await client.query(`SELECT pg_advisory_unlock(${key})`)
    },
    /** Lets the write through, as where the platform died right after it. */
    letThrough: async () => {
      await client.query("DELETE FROM held_stage")
      await client.query(`SELECT pg_advisory_unlock(${key})`)
      await noneHeld()
    },
    end: () => client.end()
  }
}
