import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** Businesses with their catalogs, the imports that filled them, and their listings. Ids are ULIDs. */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    CREATE TABLE businesses (
      id text PRIMARY KEY,
      project_id text NOT NULL REFERENCES projects ON DELETE CASCADE,
      server_id text UNIQUE REFERENCES servers ON DELETE SET NULL,
      name text NOT NULL,
      slug text NOT NULL UNIQUE,
      description text NOT NULL DEFAULT '',
      category text NOT NULL DEFAULT '',
      industry text NOT NULL,
      template_type text NOT NULL CHECK (template_type IN
        ('restaurant', 'salon', 'home_services', 'retail', 'professional_services', 'custom')),
      phone text NOT NULL DEFAULT '',
      email text NOT NULL DEFAULT '',
      website text NOT NULL DEFAULT '',
      line1 text NOT NULL DEFAULT '',
      city text NOT NULL DEFAULT '',
      state text NOT NULL DEFAULT '',
      zip text NOT NULL DEFAULT '',
      country text NOT NULL DEFAULT '',
      latitude double precision,
      longitude double precision,
      custom_fields jsonb NOT NULL DEFAULT '{}',
      hours jsonb NOT NULL DEFAULT '{}',
      feature_flags jsonb NOT NULL DEFAULT '{}',
      analytics jsonb,
      sealed_integrations text,
      -- The number that was confirmed: a level counts only while it is still the one given.
      verified_phone text,
      phone_verified_at timestamptz,
      review_requested_at timestamptz,
      premium_granted_at timestamptz,
      verification_level text NOT NULL DEFAULT 'unverified' CHECK (verification_level IN
        ('unverified', 'phone_verified', 'business_verified', 'premium_verified')),
      -- The catalog is absent from the configuration until there was one.
      catalog_synced_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      CHECK ((latitude IS NULL) = (longitude IS NULL))
    );
    CREATE INDEX ON businesses (project_id, id);
    -- What the daily job looks at: a confirmed phone on an account that may have come of age.
    CREATE INDEX ON businesses (id) WHERE verification_level = 'phone_verified';

    CREATE TABLE phone_codes (
      business_id text PRIMARY KEY REFERENCES businesses ON DELETE CASCADE,
      phone text NOT NULL,
      code_hash bytea NOT NULL,
      tries integer NOT NULL DEFAULT 0,
      sent_at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL
    );

    -- One a business. The columns below the line follow the business: the directory searches and sorts by them.
    CREATE TABLE listings (
      id text PRIMARY KEY,
      business_id text NOT NULL UNIQUE REFERENCES businesses ON DELETE CASCADE,
      own_name text,
      own_description text,
      categories text[] NOT NULL DEFAULT '{}',
      tags text[] NOT NULL DEFAULT '{}',
      featured_image_url text NOT NULL DEFAULT '',
      status text NOT NULL DEFAULT 'pending' CHECK (status IN ('active', 'pending')),
      published_at timestamptz,
      own_tier text CHECK (own_tier IN ('basic', 'featured', 'premium')),
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      ---
      name text NOT NULL,
      description text NOT NULL,
      business_name text NOT NULL,
      business_slug text NOT NULL,
      industry text NOT NULL,
      template_type text NOT NULL,
      city text NOT NULL,
      state text NOT NULL,
      latitude double precision,
      longitude double precision,
      tier text NOT NULL CHECK (tier IN ('basic', 'featured', 'premium')),
      verification_tier smallint NOT NULL CHECK (verification_tier BETWEEN 0 AND 3),
      health_score smallint NOT NULL DEFAULT 0 CHECK (health_score BETWEEN 0 AND 100),
      profile_completeness smallint NOT NULL DEFAULT 0,
      relevance_score integer NOT NULL DEFAULT 0
    );

    CREATE TABLE catalog_categories (
      id text PRIMARY KEY,
      business_id text NOT NULL REFERENCES businesses ON DELETE CASCADE,
      name text NOT NULL,
      sort_order integer NOT NULL,
      import_id text,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      UNIQUE (business_id, name)
    );

    CREATE TABLE catalog_items (
      id text PRIMARY KEY,
      business_id text NOT NULL REFERENCES businesses ON DELETE CASCADE,
      category_id text REFERENCES catalog_categories ON DELETE SET NULL,
      name text NOT NULL,
      description text NOT NULL DEFAULT '',
      item_type text NOT NULL CHECK (item_type IN ('menu_item', 'service', 'product', 'consultation')),
      price_cents integer CHECK (price_cents >= 0),
      price_type text NOT NULL CHECK (price_type IN ('fixed', 'starting_at', 'hourly', 'free_estimate')),
      currency text NOT NULL DEFAULT 'USD',
      is_available boolean NOT NULL DEFAULT true,
      metadata jsonb NOT NULL DEFAULT '{}',
      sort_order integer NOT NULL,
      import_id text,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX ON catalog_items (business_id, sort_order, id);
    CREATE INDEX ON catalog_items (category_id);
    CREATE INDEX ON catalog_items (import_id) WHERE import_id IS NOT NULL;

    -- What a confirm would write; gone with it, or an hour after the upload.
    CREATE TABLE import_previews (
      id text PRIMARY KEY,
      business_id text NOT NULL REFERENCES businesses ON DELETE CASCADE,
      source_format text NOT NULL CHECK (source_format IN ('ezforge_json', 'csv')),
      plan jsonb NOT NULL,
      warnings_count integer NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz NOT NULL
    );
    CREATE INDEX ON import_previews (business_id);
    CREATE INDEX ON import_previews (expires_at);

    -- Outlives the business: who imported what, and when. before and after: the profile, for a revert.
    CREATE TABLE import_audit (
      id text PRIMARY KEY,
      business_id text NOT NULL,
      account_id text NOT NULL,
      source_format text NOT NULL,
      created_items integer NOT NULL,
      created_categories integer NOT NULL,
      warnings_count integer NOT NULL,
      before jsonb,
      after jsonb,
      confirmed_at timestamptz NOT NULL DEFAULT now(),
      reverted_at timestamptz
    );
    CREATE INDEX ON import_audit (business_id, id);
  `))
