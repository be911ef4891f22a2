import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { type Sources, sqlWritesIn } from "../support/sql-writes.ts"

/**
 * Who writes which table: one folder of src/ each, so that the rules of its rows are found in one place. What other
 * rooms want of a row they ask that room's service for.
 */
const writers: Readonly<Record<string, string>> = {
  api_keys: "projects",
  authorization_codes: "oauth",
  billing_checkouts: "billing",
  billing_customer_attempts: "billing",
  billing_customers: "billing",
  billing_events: "billing",
  business_interactions: "analytics",
  businesses: "businesses",
  capability_blobs: "hub",
  capability_documents: "hub",
  catalog_categories: "businesses",
  catalog_items: "businesses",
  composite_broad_labels: "composites",
  composite_groups: "composites",
  composite_label_groups: "composites",
  composite_label_step_totals: "composites",
  composite_label_steps: "composites",
  composite_label_totals: "composites",
  composite_marks: "composites",
  composite_step_totals: "composites",
  composite_steps: "composites",
  composite_totals: "composites",
  composites: "composites",
  deployment_handshakes: "deployments",
  deployments: "deployments",
  directory_counts: "directory",
  directory_gone: "analytics",
  directory_place_counts: "directory",
  directory_word_counts: "directory",
  embedded_checkouts: "billing",
  embedded_subscriptions: "billing",
  environment_variables: "servers",
  feed_changes: "syndication",
  feed_state: "syndication",
  gateways: "routing",
  held_blobs: "images",
  guest_requests: "usage",
  hosts: "hosts",
  image_registries: "registries",
  hub_account_days: "hub",
  hub_keys: "hub",
  idempotency_keys: "shared",
  image_scans: "scanning",
  image_vulnerabilities: "scanning",
  images: "deployments",
  import_audit: "imports",
  import_previews: "imports",
  jobs: "jobs",
  known_logins: "accounts",
  listing_events: "analytics",
  listings: "listings",
  login_attempts: "accounts",
  login_tallies: "accounts",
  machine_metering: "usage",
  machine_output_positions: "deployments",
  mcp_sessions: "routing",
  mirrored_images: "deployments",
  oauth_clients: "oauth",
  oauth_grants: "oauth",
  package_images: "packages",
  payment_prices: "billing",
  phone_codes: "businesses",
  phone_tries: "businesses",
  projects: "projects",
  publications: "publishing",
  refresh_tokens: "oauth",
  replaced_catalogs: "businesses",
  replaced_variables: "servers",
  romanised_names: "directory",
  secret_keys: "operations",
  server_clients: "oauth",
  server_health: "servers",
  server_logs: "servers",
  server_requests: "usage",
  server_use: "routing",
  servers: "servers",
  sessions: "accounts",
  signing_keys: "oauth",
  slugs: "servers",
  sms_messages: "businesses",
  stale_tools: "servers",
  subscriptions: "billing",
  token_families: "oauth",
  tool_calls: "usage",
  tool_clients: "usage",
  tool_names: "usage",
  unfinished_uploads: "uploads",
  unmet_searches: "analytics",
  uploaded_blobs: "uploads",
  uploaded_manifests: "uploads",
  uploaded_references: "uploads",
  uploaded_tags: "uploads",
  usage: "usage",
  usage_days: "usage",
  usage_reservations: "usage",
  users: "accounts"
}

const sourcesOf = (top: string): Sources =>
  Object.fromEntries(
    readdirSync(top, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .map((path) => [`${top}/${path}`, readFileSync(`${top}/${path}`, "utf8")])
  )

/** The workflow library keeps its own tables. */
const isLibrarys = (table: string) => table.startsWith("cluster_")

const folderOf = (file: string) => file.split("/")[1] ?? ""

/** `table: folder, folder` for each table. */
const writersIn = (sources: Sources) => {
  const found = new Map<string, Set<string>>()
  for (const { file, table } of sqlWritesIn(sources)) {
    if (!isLibrarys(table)) found.set(table, (found.get(table) ?? new Set()).add(folderOf(file)))
  }
  return Object.fromEntries([...found].map(([table, folders]) => [table, [...folders].sort().join(", ")]))
}

describe("a table", () => {
  const sources = sourcesOf("src")

  it("is written by one folder of src/", () => {
    expect(writersIn(sources)).toEqual(writers)
  })

  it("is written by nobody else", () => {
    expect(sqlWritesIn({ ...sourcesOf("http"), ...sourcesOf("tools") })).toEqual([])
  })
})

describe("who writes a table is told from the source", () => {
  const seen = (text: string) => sqlWritesIn({ "src/room/Repo.ts": text }).map(({ line, table }) => `${line} ${table}`)

  it.each([
    ["sql`INSERT INTO users (id) VALUES (1)`", ["1 users"]],
    ["sql`WITH gone AS (DELETE FROM\n projects WHERE id = ${id}) UPDATE usage AS u SET n = 1`", [
      "1 projects",
      "1 usage"
    ]],
    ["sql`insert into users ${sql.insert(row)} ON CONFLICT DO UPDATE SET id = 1`", ["1 users"]],
    ["query(\"UPDATE users SET plan = 'free'\")", ["1 users"]],
    ["sql`SELECT FROM users FOR UPDATE`; sql`SELECT FROM users FOR NO KEY UPDATE SKIP LOCKED`", []],
    ["type Table = 'a' | 'b'\nconst all = (table: Table) => sql`TRUNCATE ${sql(table)}`", ["2 a", "2 b"]],
    ["const drop = (of: number, table: string) => () => sql`DELETE FROM ${sql(table)}`\ndrop(1, 'c')", ["2 c"]]
  ])("%s", (text, tables) => {
    expect(seen(text)).toEqual(tables)
  })

  it.each([
    ["a table of any name", "const drop = (table: string) => sql`DELETE FROM ${sql(table)}`\ndrop(name)"],
    ["a table from nowhere", "sql`DELETE FROM ${sql(name)}`"],
    ["a part of a statement by itself", "const values = sql.insert(row)"]
  ])("%s is refused", (_, text) => {
    expect(() => seen(text)).toThrow(/src\/room\/Repo.ts:\d: which table this writes can't be told/)
  })

  it("a second folder shows", () => {
    const intruder = { "src/imports/Intruder.ts": "sql`UPDATE catalog_items SET name = ''`" }
    expect(writersIn({ ...sourcesOf("src"), ...intruder })).toMatchObject({ catalog_items: "businesses, imports" })
  })
})
