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

    -- What came of one authorization: it is revoked as a whole.
    CREATE TABLE token_families (
      id text PRIMARY KEY,
      grant_id text NOT NULL REFERENCES oauth_grants ON DELETE CASCADE,
      revoked_at timestamptz
    );
    CREATE INDEX ON token_families (grant_id);
    CREATE INDEX ON token_families (revoked_at) WHERE revoked_at IS NOT NULL;

    -- Whoever checks access tokens hears at once of a family that is revoked (payload: its id).
    CREATE FUNCTION notify_family_revoked() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_notify('family_revoked', NEW.id);
        RETURN NULL;
      END $$;
    CREATE TRIGGER family_revoked AFTER UPDATE OF revoked_at ON token_families
      FOR EACH ROW WHEN (NEW.revoked_at IS NOT NULL AND OLD.revoked_at IS NULL)
      EXECUTE FUNCTION notify_family_revoked();

    CREATE TABLE authorization_codes (
      code_hash bytea PRIMARY KEY,
      family_id text NOT NULL REFERENCES token_families ON DELETE CASCADE,
      client_id text NOT NULL,
      redirect_uri text NOT NULL,
      resource text NOT NULL,
      scopes text[] NOT NULL,
      code_challenge text NOT NULL,
      expires_at timestamptz NOT NULL,
      used_at timestamptz
    );
    CREATE INDEX ON authorization_codes (family_id);
    CREATE INDEX ON authorization_codes (expires_at);

    -- A successor is derived from its predecessor and the salt: whoever has the table alone can make neither.
    CREATE TABLE refresh_tokens (
      token_hash bytea PRIMARY KEY,
      family_id text NOT NULL REFERENCES token_families ON DELETE CASCADE,
      client_id text NOT NULL,
      resource text NOT NULL,
      scopes text[] NOT NULL,
      generation integer NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL,
      rotated_at timestamptz,
      successor_salt bytea,
      CHECK ((rotated_at IS NULL) = (successor_salt IS NULL))
    );
    CREATE INDEX ON refresh_tokens (family_id);
    CREATE INDEX ON refresh_tokens (expires_at);

    -- A machine that introspects is found by the hash of its token, like every other credential.
    CREATE INDEX servers_by_replay_token ON servers (sha256(decode(replay_token, 'escape')));
  `))
