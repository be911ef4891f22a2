import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * What accounts pay for (docs/decisions/subscriptions.md). The tables of `embedded_` are the stand-in processor's own:
 * the rest of billing learns of them as it learns of Stripe's.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    -- An account at a processor. begun, applied: numbers of readings of the processor's state, so that an older one
    -- never replaces a newer one. synced_at: when the last one was applied.
    CREATE TABLE billing_customers (
      id text PRIMARY KEY,
      account_id text NOT NULL REFERENCES users ON DELETE CASCADE,
      processor text NOT NULL CHECK (processor IN ('stripe', 'embedded')),
      begun bigint NOT NULL DEFAULT 0,
      applied bigint NOT NULL DEFAULT 0,
      synced_at timestamptz,
      UNIQUE (account_id, processor)
    );
    CREATE INDEX ON billing_customers (processor, synced_at NULLS FIRST);

    -- due_at: when the state changes by time alone, at the latest the end of the period. revision: of our own changes,
    -- for the processor's idempotency keys.
    CREATE TABLE subscriptions (
      id text PRIMARY KEY,
      customer_id text NOT NULL REFERENCES billing_customers ON UPDATE CASCADE ON DELETE CASCADE,
      account_id text NOT NULL REFERENCES users ON DELETE CASCADE,
      plan text NOT NULL CHECK (plan IN ('developer', 'pro', 'enterprise')),
      status text NOT NULL CHECK (status IN ('trialing', 'active', 'past_due', 'canceled')),
      current_period_start timestamptz NOT NULL,
      current_period_end timestamptz NOT NULL,
      cancels_at timestamptz,
      due_at timestamptz NOT NULL,
      revision integer NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL
    );
    CREATE INDEX ON subscriptions (account_id, created_at);
    CREATE INDEX ON subscriptions (customer_id);
    CREATE INDEX ON subscriptions (due_at) WHERE status <> 'canceled';

    -- The checkout that an account has begun last. It is stored before the processor is asked for it: id is the
    -- idempotency key of that call, session_id and url are its answer.
    CREATE TABLE billing_checkouts (
      account_id text PRIMARY KEY REFERENCES users ON DELETE CASCADE,
      id text NOT NULL UNIQUE,
      plan text NOT NULL CHECK (plan IN ('developer', 'pro', 'enterprise')),
      customer_id text NOT NULL REFERENCES billing_customers ON UPDATE CASCADE ON DELETE CASCADE,
      session_id text,
      url text,
      paid boolean NOT NULL DEFAULT false,
      created_at timestamptz NOT NULL
    );

    -- Events of the processor that were applied.
    CREATE TABLE billing_events (
      id text PRIMARY KEY,
      received_at timestamptz NOT NULL
    );
    CREATE INDEX ON billing_events (received_at);

    CREATE TABLE embedded_checkouts (
      id text PRIMARY KEY,
      customer_id text NOT NULL,
      plan text NOT NULL,
      return_url text NOT NULL,
      expires_at timestamptz NOT NULL,
      closed boolean NOT NULL DEFAULT false
    );
    CREATE INDEX ON embedded_checkouts (expires_at);

    CREATE TABLE embedded_subscriptions (
      id text PRIMARY KEY,
      checkout_id text NOT NULL UNIQUE,
      customer_id text NOT NULL,
      plan text NOT NULL,
      started_at timestamptz NOT NULL,
      renewals text NOT NULL CHECK (renewals IN ('paid', 'late', 'declined', 'trial')),
      cancels_at timestamptz
    );
    CREATE INDEX ON embedded_subscriptions (customer_id);
  `))
