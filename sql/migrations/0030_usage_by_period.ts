import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * A plan's month is the account's current period (docs/decisions/month-quota.md): the subscription's, else the UTC
 * calendar month. usage.period and usage_reservations.period are its beginning.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    -- Those of the account's subscription; null without one.
    ALTER TABLE users ADD period_start timestamptz, ADD period_end timestamptz;
    UPDATE users u SET period_start = s.current_period_start, period_end = s.current_period_end FROM (
      SELECT DISTINCT ON (account_id) * FROM subscriptions WHERE status <> 'canceled'
        ORDER BY account_id, created_at DESC, id DESC
    ) s WHERE s.account_id = u.id;

    ALTER TABLE usage RENAME month TO period;
    ALTER TABLE usage ALTER period TYPE timestamptz USING period::timestamp AT TIME ZONE 'UTC';
    ALTER TABLE usage_reservations RENAME month TO period;
    ALTER TABLE usage_reservations ALTER period TYPE timestamptz USING period::timestamp AT TIME ZONE 'UTC';

    CREATE FUNCTION usage_period(period_start timestamptz, today date) RETURNS timestamptz IMMUTABLE LANGUAGE sql AS $$
      SELECT coalesce(period_start, date_trunc('month', today::timestamp) AT TIME ZONE 'UTC')
    $$;
    CREATE FUNCTION usage_period_end(period_end timestamptz, today date) RETURNS timestamptz IMMUTABLE LANGUAGE sql AS $$
      SELECT coalesce(period_end, (date_trunc('month', today::timestamp) + interval '1 month') AT TIME ZONE 'UTC')
    $$;

    -- Takes requests from what an account's month has left: a whole block in advance as long as there is plenty, else
    -- as many as are wanted now, which then are counted already. The period's row is locked: takers go one by one.
    -- elsewhere: what other gateways hold. used: counted or held, by anybody, before this.
    DROP FUNCTION usage_take;
    CREATE FUNCTION usage_take(
      reservation text, taker text, account text, today date, allowed bigint, wanted bigint, block bigint,
      OUT granted bigint, OUT counted boolean, OUT used bigint, OUT elsewhere bigint, OUT resets_at timestamptz
    ) LANGUAGE plpgsql AS $$
    DECLARE
      current_period timestamptz;
      room bigint;
    BEGIN
      SELECT usage_period(u.period_start, today), usage_period_end(u.period_end, today)
        INTO current_period, resets_at FROM users u WHERE u.id = account;
      counted := true;
      IF current_period IS NULL THEN -- The account is gone, and its servers with it.
        granted := 0; used := 0; elsewhere := 0; resets_at := usage_period_end(NULL, today);
        RETURN;
      END IF;
      INSERT INTO usage (account_id, period) SELECT u.id, current_period FROM users u WHERE u.id = account
        ON CONFLICT DO NOTHING;
      SELECT u.request_count INTO used FROM usage u
        WHERE u.account_id = account AND u.period = current_period FOR UPDATE;
      IF used IS NULL THEN
        granted := 0; used := 0; elsewhere := 0;
        RETURN;
      END IF;
      SELECT used + coalesce(sum(r.requests), 0), coalesce(sum(r.requests) FILTER (WHERE r.holder <> taker), 0)
        INTO used, elsewhere FROM usage_reservations r
        WHERE r.account_id = account AND r.period = current_period
          AND r.taken_at > clock_timestamp() - interval '15 seconds';
      room := greatest(0, allowed - used);
      granted := least(block, room / 4);
      IF granted >= wanted THEN
        counted := false;
        INSERT INTO usage_reservations (id, account_id, period, holder, requests)
          VALUES (reservation, account, current_period, taker, granted);
        RETURN;
      END IF;
      granted := least(wanted, room);
      IF granted > 0 THEN
        UPDATE usage u SET request_count = u.request_count + granted
          WHERE u.account_id = account AND u.period = current_period;
        INSERT INTO usage_days AS d (account_id, day, request_count) VALUES (account, today, granted)
          ON CONFLICT (account_id, day) DO UPDATE SET request_count = d.request_count + excluded.request_count;
      END IF;
    END $$;
  `))
