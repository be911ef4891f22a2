import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * Usage by day, the month's requests as a budget that several gateways share (docs/decisions/month-quota.md), and how
 * many versions the plan of the time lets a deployment be one of (docs/decisions/smaller-plans.md).
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    -- Days are UTC. Those of a month add up to its row in usage, from the first full month on.
    CREATE TABLE usage_days (
      account_id text NOT NULL REFERENCES users ON DELETE CASCADE,
      day date NOT NULL,
      request_count bigint NOT NULL DEFAULT 0,
      compute_milliseconds bigint NOT NULL DEFAULT 0,
      bandwidth_bytes bigint NOT NULL DEFAULT 0,
      PRIMARY KEY (account_id, day)
    );

    -- Requests that a gateway may let through without asking. It gives them back within seconds, used or not; what is
    -- older was a gateway's that has ended, and counts no more.
    CREATE TABLE usage_reservations (
      id text PRIMARY KEY,
      account_id text NOT NULL REFERENCES users ON DELETE CASCADE,
      month date NOT NULL,
      holder text NOT NULL,
      requests bigint NOT NULL,
      taken_at timestamptz NOT NULL DEFAULT clock_timestamp()
    );
    CREATE INDEX ON usage_reservations (account_id, month);
    CREATE INDEX ON usage_reservations (taken_at);

    -- Takes requests from what an account's month has left: a whole block in advance as long as there is plenty, else
    -- as many as are wanted now, which then are counted already. The month's row is locked: takers go one by one.
    -- elsewhere: what other gateways hold. used: counted or held, by anybody, before this.
    CREATE FUNCTION usage_take(
      reservation text, taker text, account text, today date, allowed bigint, wanted bigint, block bigint,
      OUT granted bigint, OUT counted boolean, OUT used bigint, OUT elsewhere bigint
    ) LANGUAGE plpgsql AS $$
    DECLARE
      of_month date := date_trunc('month', today)::date;
      room bigint;
    BEGIN
      INSERT INTO usage (account_id, month) SELECT u.id, of_month FROM users u WHERE u.id = account
        ON CONFLICT DO NOTHING;
      SELECT u.request_count INTO used FROM usage u WHERE u.account_id = account AND u.month = of_month FOR UPDATE;
      counted := true;
      IF used IS NULL THEN -- The account is gone, and its servers with it.
        granted := 0; used := 0; elsewhere := 0;
        RETURN;
      END IF;
      SELECT used + coalesce(sum(r.requests), 0), coalesce(sum(r.requests) FILTER (WHERE r.holder <> taker), 0)
        INTO used, elsewhere FROM usage_reservations r
        WHERE r.account_id = account AND r.month = of_month AND r.taken_at > clock_timestamp() - interval '15 seconds';
      room := greatest(0, allowed - used);
      granted := least(block, room / 4);
      IF granted >= wanted THEN
        counted := false;
        INSERT INTO usage_reservations (id, account_id, month, holder, requests)
          VALUES (reservation, account, of_month, taker, granted);
        RETURN;
      END IF;
      granted := least(wanted, room);
      IF granted > 0 THEN
        UPDATE usage u SET request_count = u.request_count + granted WHERE u.account_id = account AND u.month = of_month;
        INSERT INTO usage_days AS d (account_id, day, request_count) VALUES (account, today, granted)
          ON CONFLICT (account_id, day) DO UPDATE SET request_count = d.request_count + excluded.request_count;
      END IF;
    END $$;

    ALTER TABLE deployments ADD kept_by_plan integer;
    UPDATE deployments d SET kept_by_plan = CASE WHEN u.plan = 'free' THEN 3 ELSE 10 END
      FROM servers s JOIN projects p ON p.id = s.project_id JOIN users u ON u.id = p.account_id
      WHERE s.id = d.server_id;
    UPDATE deployments SET kept_by_plan = 0 WHERE kept_by_plan IS NULL;
    ALTER TABLE deployments ALTER kept_by_plan SET NOT NULL, ALTER kept_by_plan SET DEFAULT 0;
  `))
