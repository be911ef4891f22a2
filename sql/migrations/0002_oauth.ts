import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** OAuth clients, what users granted them, and the codes and refresh tokens that came of it. Secrets as SHA-256. */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    CREATE TABLE oauth_clients (
      client_id text PRIMARY KEY,
      kind text NOT NULL CHECK (kind IN ('metadata', 'dynamic')),
      client_name text NOT NULL,
      redirect_uris text[] NOT NULL,
      scope text,
      document jsonb NOT NULL,
      etag text,
      fresh_until timestamptz,
      last_fetched_at timestamptz,
      registered_at timestamptz NOT NULL DEFAULT now()
    );

    -- Registered by the server's owner: trusted there.
    CREATE TABLE server_clients (
      server_id text NOT NULL REFERENCES servers ON DELETE CASCADE,
      client_id text NOT NULL REFERENCES oauth_clients,
      registered_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (server_id, client_id)
    );
    CREATE INDEX ON server_clients (client_id);

    -- What a user consented to; one row a user, client and resource.
    CREATE TABLE oauth_grants (
      id text PRIMARY KEY,
      user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
      client_id text NOT NULL,
      resource text NOT NULL,
      server_id text REFERENCES servers ON DELETE CASCADE,
      scopes text[] NOT NULL,
      redirect_uris_hash bytea NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      revoked_at timestamptz,
      UNIQUE (user_id, client_id, resource)
    );
    CREATE INDEX ON oauth_grants (client_id);
    CREATE INDEX ON oauth_grants (server_id);

    CREATE TABLE token_families (
      id text PRIMARY KEY,
      grant_id text NOT NULL REFERENCES oauth_grants ON DELETE CASCADE,
      revoked_at timestamptz
    );
    CREATE INDEX ON token_families (grant_id);

    CREATE TABLE authorization_codes (
      code_hash bytea PRIMARY KEY,
      grant_id text NOT NULL REFERENCES oauth_grants ON DELETE CASCADE,
      client_id text NOT NULL,
      redirect_uri text NOT NULL,
      resource text NOT NULL,
      scopes text[] NOT NULL,
      code_challenge text NOT NULL,
      family_id text NOT NULL,
      expires_at timestamptz NOT NULL,
      used_at timestamptz
    );
    CREATE INDEX ON authorization_codes (grant_id);
    CREATE INDEX ON authorization_codes (expires_at);

    CREATE TABLE refresh_tokens (
      token_hash bytea PRIMARY KEY,
      family_id text NOT NULL,
      grant_id text NOT NULL REFERENCES oauth_grants ON DELETE CASCADE,
      client_id text NOT NULL,
      resource text NOT NULL,
      scopes text[] NOT NULL,
      generation integer NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      rotated_at timestamptz,
      successor_hash bytea
    );
    CREATE INDEX ON refresh_tokens (family_id);
    CREATE INDEX ON refresh_tokens (grant_id);
    CREATE INDEX ON refresh_tokens (expires_at);
  `))
