import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** What callers who are not a server's owner take of it (docs/decisions/guests.md). */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    -- Of one guest: requests a minute (null: any number), and percent of the owner's requests of the month.
    ALTER TABLE servers ADD guest_requests_per_minute int DEFAULT 60, ADD guest_month_percent int NOT NULL DEFAULT 10;

    CREATE TABLE guest_requests (
      server_id text NOT NULL REFERENCES servers ON DELETE CASCADE,
      -- An account's id, or an address where the platform checks no tokens.
      guest text NOT NULL,
      -- The beginning of the owner's period in which they were counted.
      period timestamptz NOT NULL,
      period_count bigint NOT NULL DEFAULT 0,
      minute_start timestamptz NOT NULL DEFAULT '-infinity',
      minute_count bigint NOT NULL DEFAULT 0,
      PRIMARY KEY (server_id, guest)
    );

    -- Counts requests of a guest as far as they fit into the minute and the month (null: no limit): those that are
    -- wanted now, and some ahead. unused: what the taker has left of those it took before.
    CREATE FUNCTION guest_take(
      server text, caller text, today date, a_minute bigint, a_month bigint, wanted bigint, ahead bigint, unused bigint,
      OUT granted bigint, OUT month_left bigint, OUT minute_millis float8, OUT resets_at timestamptz
    ) LANGUAGE plpgsql AS $$
    DECLARE
      current_period timestamptz;
      mine guest_requests;
      room bigint;
    BEGIN
      SELECT usage_period(u.period_start, today), usage_period_end(u.period_end, today) INTO current_period, resets_at
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
      ELSE
        mine.period_count := greatest(0, mine.period_count - unused);
      END IF;
      IF mine.minute_start <= clock_timestamp() - interval '1 minute' THEN
        mine.minute_start := clock_timestamp();
        mine.minute_count := 0;
      END IF;
      room := greatest(0, least(a_minute - mine.minute_count, a_month - mine.period_count));
      granted := least(greatest(wanted, least(ahead, room / 8)), room);
      UPDATE guest_requests g SET period = mine.period, period_count = mine.period_count + granted,
          minute_start = mine.minute_start, minute_count = mine.minute_count + granted
        WHERE g.server_id = server AND g.guest = caller;
      month_left := a_month - mine.period_count - granted;
      minute_millis := 60000 - 1000 * extract(epoch FROM clock_timestamp() - mine.minute_start);
    END $$;
  `))
