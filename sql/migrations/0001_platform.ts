import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** Accounts, projects, servers, deployments: everything the platform stores. Ids are text made by the program. */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    CREATE TABLE users (
      id text PRIMARY KEY,
      email text NOT NULL UNIQUE,
      name text,
      password_hash text NOT NULL,
      plan text NOT NULL DEFAULT 'free' CHECK (plan IN ('free', 'developer', 'pro', 'enterprise')),
      created_at timestamptz NOT NULL DEFAULT now()
    );

    CREATE TABLE sessions (
      id text PRIMARY KEY,
      user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
      token_hash bytea NOT NULL UNIQUE,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL
    );
    CREATE INDEX ON sessions (user_id);

    CREATE TABLE login_attempts (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      bucket bytea NOT NULL,
      attempted_at timestamptz NOT NULL
    );
    CREATE INDEX ON login_attempts (bucket, attempted_at);
    CREATE INDEX ON login_attempts (attempted_at);

    CREATE TABLE projects (
      id text PRIMARY KEY,
      account_id text NOT NULL REFERENCES users ON DELETE CASCADE,
      name text NOT NULL,
      slug text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      UNIQUE (account_id, slug)
    );
    CREATE INDEX ON projects (account_id, id);

    CREATE TABLE api_keys (
      id text PRIMARY KEY,
      project_id text NOT NULL REFERENCES projects ON DELETE CASCADE,
      name text NOT NULL,
      environment text NOT NULL CHECK (environment IN ('live', 'test')),
      key_hash bytea NOT NULL UNIQUE,
      key_prefix text NOT NULL,
      scopes text[] NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      last_used_at timestamptz,
      expires_at timestamptz
    );
    CREATE INDEX ON api_keys (project_id, id);

    -- A slug outlives its server: it is never given to another account.
    CREATE TABLE slugs (
      slug text PRIMARY KEY,
      account_id text NOT NULL REFERENCES users ON DELETE CASCADE
    );

    CREATE TABLE servers (
      id text PRIMARY KEY,
      project_id text NOT NULL REFERENCES projects ON DELETE CASCADE,
      name text NOT NULL,
      slug text NOT NULL UNIQUE REFERENCES slugs,
      status text NOT NULL DEFAULT 'provisioning'
        CHECK (status IN ('provisioning', 'running', 'stopped', 'error')),
      region text NOT NULL,
      cpu text NOT NULL,
      memory_mb integer NOT NULL,
      auto_stop_seconds integer,
      auth_mode text NOT NULL DEFAULT 'service_managed' CHECK (auth_mode IN ('service_managed', 'byoa')),
      byoa_config jsonb,
      access text NOT NULL DEFAULT 'public' CHECK (access IN ('public', 'owner', 'list')),
      allowed_emails text[] NOT NULL DEFAULT '{}',
      health_path text NOT NULL,
      health_timeout_seconds integer NOT NULL,
      rollback_on_health_check_failure boolean NOT NULL,
      deployment_retention_count integer NOT NULL,
      replay_token text NOT NULL,
      active_deployment_id text,
      generation integer NOT NULL DEFAULT 0,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      CHECK ((auth_mode = 'byoa') = (byoa_config IS NOT NULL))
    );
    CREATE INDEX ON servers (project_id, id);

    CREATE TABLE environment_variables (
      id text PRIMARY KEY,
      server_id text NOT NULL REFERENCES servers ON DELETE CASCADE,
      name text NOT NULL,
      sealed_value text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      UNIQUE (server_id, name)
    );

    CREATE TABLE deployments (
      id text PRIMARY KEY,
      server_id text NOT NULL REFERENCES servers ON DELETE CASCADE,
      version integer NOT NULL,
      type text NOT NULL CHECK (type IN ('deploy', 'rollback')),
      status text NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'building', 'running', 'failed', 'rolled_back')),
      stage text NOT NULL DEFAULT 'pending',
      active boolean NOT NULL DEFAULT false,
      image_uri text NOT NULL,
      image_digest text,
      rollback_of text,
      scan_result jsonb,
      error_message text,
      port integer NOT NULL DEFAULT 8080,
      created_at timestamptz NOT NULL DEFAULT now(),
      deployed_at timestamptz,
      UNIQUE (server_id, version)
    );
    -- One pipeline a server at a time, one deployment that serves; the database holds both.
    CREATE UNIQUE INDEX deployments_in_flight ON deployments (server_id) WHERE status IN ('pending', 'building');
    CREATE UNIQUE INDEX deployments_active ON deployments (server_id) WHERE active;
    ALTER TABLE servers ADD FOREIGN KEY (active_deployment_id) REFERENCES deployments ON DELETE SET NULL;

    -- Gateways keep what they know of a server in memory; any change of its row tells them (payload: id and slug).
    CREATE FUNCTION notify_server_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_notify('server_changed', coalesce(NEW.id, OLD.id) || ' ' || coalesce(NEW.slug, OLD.slug));
        RETURN NULL;
      END $$;
    CREATE TRIGGER server_changed AFTER INSERT OR UPDATE OR DELETE ON servers
      FOR EACH ROW EXECUTE FUNCTION notify_server_change();

    CREATE TABLE server_logs (
      id text PRIMARY KEY,
      server_id text NOT NULL REFERENCES servers ON DELETE CASCADE,
      level text NOT NULL CHECK (level IN ('debug', 'info', 'warn', 'error')),
      message text NOT NULL,
      timestamp timestamptz NOT NULL
    );
    CREATE INDEX ON server_logs (server_id, id);

    CREATE TABLE machine_output_positions (
      machine text PRIMARY KEY,
      server_id text NOT NULL REFERENCES servers ON DELETE CASCADE,
      position bigint NOT NULL
    );

    CREATE TABLE idempotency_keys (
      account_id text NOT NULL REFERENCES users ON DELETE CASCADE,
      key text NOT NULL,
      request_hash bytea NOT NULL,
      locked_until timestamptz,
      sealed_response text,
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (account_id, key)
    );
    CREATE INDEX ON idempotency_keys (created_at);

    CREATE TABLE signing_keys (
      kid text PRIMARY KEY,
      public_jwk jsonb NOT NULL,
      sealed_private_jwk text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      retired_at timestamptz
    );

    -- One row an account and UTC month: counters outlive the servers they were counted on.
    CREATE TABLE usage (
      account_id text NOT NULL REFERENCES users ON DELETE CASCADE,
      month date NOT NULL,
      request_count bigint NOT NULL DEFAULT 0,
      compute_milliseconds bigint NOT NULL DEFAULT 0,
      bandwidth_bytes bigint NOT NULL DEFAULT 0,
      PRIMARY KEY (account_id, month)
    );
  `))
