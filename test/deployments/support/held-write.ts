import { setTimeout } from "node:timers/promises"
import pg from "pg"

/** Advisory lock that a held write waits for. */
const key = 1_313_131_313

const waiting = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = ${key} AND NOT granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

/** A write of a deployment: that of a stage's name before its work, or that of its result in the workflow's journal. */
export type Write = "stage" | "result"

/**
 * Holds the platform exactly between two writes of a deployment, from within the database: a write waits until it is
 * let through or undone. Results are of activities (`DeployWorkflow.ts`), and of the whole workflow, as `run`.
 */
export const holdWrites = async (databaseUrl: string) => {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(`CREATE TABLE held_write (of text, name text);
    CREATE FUNCTION hold_write(what text, written text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
      IF EXISTS (SELECT FROM held_write WHERE of = what AND name = written) THEN
        PERFORM pg_advisory_xact_lock(${key});
      END IF;
    END $$;
    CREATE FUNCTION hold_stage() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.stage IS DISTINCT FROM OLD.stage THEN PERFORM hold_write('stage', NEW.stage); END IF;
      RETURN NEW;
    END $$;
    CREATE FUNCTION hold_result() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      PERFORM hold_write('result', coalesce(payload::jsonb ->> 'name', tag))
        FROM cluster_messages WHERE id = NEW.request_id AND entity_type = 'Workflow/Deploy';
      RETURN NEW;
    END $$;
    CREATE TRIGGER hold_write BEFORE UPDATE ON deployments FOR EACH ROW EXECUTE FUNCTION hold_stage();
    CREATE TRIGGER hold_write BEFORE INSERT ON cluster_replies FOR EACH ROW EXECUTE FUNCTION hold_result()`)

  const held = async () => (await client.query<{ pid: number }>(waiting)).rows.map(({ pid }) => pid)
  const noneHeld = async () => {
    while ((await held()).length > 0) await setTimeout(20)
  }
  return {
    /** From now on the first such write waits. */
    hold: async (what: Write, name: string) => {
      await client.query("INSERT INTO held_write VALUES ($1, $2)", [what, name])
      await client.query(`SELECT pg_advisory_lock(${key})`)
    },
    /** Until a write waits. */
    reached: async () => {
      while ((await held()).length === 0) await setTimeout(5)
    },
    /** Ends the session that writes, as where the platform died before it sent the write. */
    undo: async () => {
      await client.query("DELETE FROM held_write")
      for (const pid of await held()) await client.query("SELECT pg_terminate_backend($1)", [pid])
      await noneHeld()
      await client.query(`SELECT pg_advisory_unlock(${key})`)
    },
    /** Lets the write through, as where the platform died right after it. */
    letThrough: async () => {
      await client.query("DELETE FROM held_write")
      await client.query(`SELECT pg_advisory_unlock(${key})`)
      await noneHeld()
    },
    /** Which parts of a deployment have a result in the journal. */
    results: async (deploymentId: string) =>
      (await client.query<{ name: string }>(
        `SELECT coalesce(m.payload::jsonb ->> 'name', m.tag) AS name
          FROM cluster_messages run JOIN cluster_messages m USING (entity_id)
          JOIN cluster_replies r ON r.request_id = m.id AND r.kind = 0
          WHERE run.tag = 'run' AND run.payload::jsonb ->> 'deploymentId' = $1 ORDER BY r.id`,
        [deploymentId]
      )).rows.map(({ name }) => name),
    end: () => client.end()
  }
}
