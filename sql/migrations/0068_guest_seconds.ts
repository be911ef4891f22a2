import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** A guest's share of its host's machine time (docs/decisions/guests.md). */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    ALTER TABLE guest_requests
      ADD COLUMN period_seconds bigint NOT NULL DEFAULT 0,
      -- When requests were granted last, less than a second before; null: not in this period.
      ADD COLUMN last_taken timestamptz;

    DROP FUNCTION guest_take(text, text, date, bigint, bigint, bigint, bigint, bigint);

    -- Counts requests of a guest as far as they fit into the minute and the month (null: no limit): those that are
    -- wanted now, and some ahead. unused: what the taker has left of those it took before. a_time: seconds of the month
    -- for which the guest may keep the server awake; each taking tells for how long the one before it did.
    CREATE FUNCTION guest_take(
      server text, caller text, today date, a_minute bigint, a_month bigint, wanted bigint, ahead bigint, unused bigint,
      a_time bigint,
      OUT granted bigint, OUT month_left bigint, OUT time_left bigint, OUT minute_millis float8, OUT resets_at timestamptz
    ) LANGUAGE plpgsql AS $$
    DECLARE
      current_period timestamptz;
      awake_for int;
      mine guest_requests;
      passed bigint;
      spent bigint;
      room bigint;
    BEGIN
      SELECT usage_period(u.period_start, today), usage_period_end(u.period_end, today), s.auto_stop_seconds
        INTO current_period, resets_at, awake_for
        FROM servers s JOIN projects p ON p.id = s.project_id JOIN users u ON u.id = p.account_id WHERE s.id = server;
      IF current_period IS NULL THEN -- The server is gone: nobody is let in.
        granted := 0; minute_millis := 1000; resets_at := usage_period_end(NULL, today);
        RETURN;
      END IF;
      INSERT INTO guest_requests (server_id, guest, period) VALUES (server, caller, current_period)
        ON CONFLICT DO NOTHING;
      SELECT * INTO STRICT mine FROM guest_requests g WHERE g.server_id = server AND g.guest = caller FOR UPDATE;
      IF mine.period <> current_period THEN
        mine.period := current_period;
        mine.period_count := 0;
        mine.period_seconds := 0;
        mine.last_taken := NULL;
      ELSE
        mine.period_count := greatest(0, mine.period_count - unused);
      END IF;
      IF mine.minute_start <= clock_timestamp() - interval '1 minute' THEN
        mine.minute_start := clock_timestamp();
        mine.minute_count := 0;
      END IF;
      passed := greatest(0, floor(extract(epoch FROM clock_timestamp() - mine.last_taken)));
      -- A server that never sleeps (null) runs without its guests, too.
      spent := least(coalesce(awake_for, 0), passed);
      time_left := CASE WHEN awake_for IS NOT NULL THEN a_time - mine.period_seconds - spent END;
      room := greatest(0, least(a_minute - mine.minute_count, a_month - mine.period_count));
      IF time_left <= 0 THEN
        room := 0;
      END IF;
      granted := least(greatest(wanted, least(ahead, room / 8)), room);
      IF granted > 0 THEN -- What is refused wakes nothing.
        mine.period_seconds := mine.period_seconds + spent;
        -- By whole seconds: of takings that follow each other fast, none is free.
        mine.last_taken := coalesce(mine.last_taken + passed * interval '1 second', clock_timestamp());
      END IF;
      UPDATE guest_requests g SET period = mine.period, period_count = mine.period_count + granted,
          period_seconds = mine.period_seconds, last_taken = mine.last_taken,
          minute_start = mine.minute_start, minute_count = mine.minute_count + granted
        WHERE g.server_id = server AND g.guest = caller;
      month_left := a_month - mine.period_count - granted;
      minute_millis := 60000 - 1000 * extract(epoch FROM clock_timestamp() - mine.minute_start);
    END $$;
  `))
