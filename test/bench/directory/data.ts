/** A directory like the real one: brands of the name-suggestion-index at places of `zipcodes`. */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { type Pool } from "pg"

const require = createRequire(import.meta.url)

interface Zip {
  readonly city: string
  readonly state: string
  readonly latitude: number
  readonly longitude: number
  readonly country: string
}
interface Brands {
  readonly nsi: Readonly<
    Record<string, {
      readonly items?: ReadonlyArray<{ readonly displayName: string; readonly tags: Readonly<Record<string, string>> }>
    }>
  >
}

export interface Brand {
  readonly name: string
  readonly categories: ReadonlyArray<string>
  readonly templateType: string
  readonly industry: string
}

const templates: ReadonlyArray<readonly [RegExp, string]> = [
  [/amenity\/(fast_food|restaurant|cafe|bar|pub|ice_cream|food_court)/, "restaurant"],
  [/shop\/(hairdresser|beauty|massage|cosmetics|tattoo|nails)/, "salon"],
  [/craft\/|shop\/(doityourself|hardware|trade|electrical)|amenity\/car_wash/, "home_services"],
  [/shop\//, "retail"],
  [
    /office\/|amenity\/(bank|clinic|dentist|doctors|pharmacy|veterinary|driving_school)|healthcare/,
    "professional_services"
  ]
]

export const zips: ReadonlyArray<Zip> = Object.values((require("zipcodes") as { codes: Record<string, Zip> }).codes)
  .filter(({ country }) => country === "US")

export const brands: ReadonlyArray<Brand> = Object.entries(
  (JSON.parse(readFileSync("node_modules/name-suggestion-index/dist/json/nsi.min.json", "utf8")) as Brands).nsi
).filter(([key]) => key.startsWith("brands/")).flatMap(([key, { items = [] }]) => {
  const industry = key.split("/").at(-1) ?? ""
  const templateType = templates.find(([pattern]) => pattern.test(key))?.[1] ?? "custom"
  return items.map(({ displayName, tags }) => ({
    name: displayName.slice(0, 200),
    categories: [...new Set([industry, ...(tags["cuisine"] ?? "").split(";")])].filter((name) => name !== ""),
    templateType,
    industry
  }))
})

/** What listings are tagged with, and how many of a thousand have each: some tags select half of what there is. */
export const tags: Readonly<Record<string, number>> = {
  "delivery": 450,
  "takeout": 300,
  "wheelchair access": 250,
  "parking": 150,
  "family owned": 100,
  "open late": 60,
  "vegan": 40,
  "gluten free": 25,
  "outdoor seating": 15,
  "live music": 5,
  "valet": 1
}

const batch = 50_000

/** Loads so many listings, nine of ten of them shown. Some brands are everywhere, most are seldom (a square law). */
export const load = async (pool: Pool, count: number) => {
  const client = await pool.connect()
  try {
    await client.query("SET statement_timeout = 0; SET synchronous_commit = off; SELECT setseed(0.5)")
    await client.query("INSERT INTO users (id, email, password_hash) VALUES ('bench', 'bench@example.com', '')")
    await client.query("INSERT INTO projects (id, account_id, name, slug) VALUES ('bench', 'bench', 'bench', 'bench')")
    await client.query(
      `CREATE TEMP TABLE brands AS SELECT (row_number() OVER (ORDER BY md5(b.name)))::int - 1 AS i, b.* FROM
         json_to_recordset($1) AS b(name text, categories text[], "templateType" text, industry text)`,
      [JSON.stringify(brands.map((brand) => ({ ...brand, categories: brand.categories })))]
    )
    await client.query(
      `CREATE TEMP TABLE zips AS SELECT (row_number() OVER ())::int - 1 AS i, z.* FROM
         json_to_recordset($1) AS z(city text, state text, latitude float8, longitude float8)`,
      [JSON.stringify(zips)]
    )
    await client.query("CREATE INDEX ON brands (i); CREATE INDEX ON zips (i); ANALYZE brands; ANALYZE zips")
    for (let from = 0; from < count; from += batch) {
      const to = Math.min(from + batch, count) - 1
      await client.query(
        `CREATE TEMP TABLE drawn AS SELECT n, floor(random() ^ 2 * ${brands.length})::int AS brand,
           floor(random() * ${zips.length})::int AS zip, random() AS r, random() AS s, random() AS t, random() AS u
         FROM generate_series(${from}, ${to}) n`
      )
      await client.query(
        `CREATE TEMP TABLE made AS
         SELECT '01B' || lpad(upper(to_hex(n)), 23, '0') AS business, '01C' || lpad(upper(to_hex(n)), 23, '0') AS id,
           CASE WHEN d.s < 0.6 THEN b.name ELSE b.name || ' ' || z.city END AS name, b.categories, b."templateType",
           b.industry, z.city, z.state, z.latitude + (d.s - 0.5) / 20 AS latitude,
           z.longitude + (d.t - 0.5) / 20 AS longitude,
           CASE WHEN r < 0.4 THEN 0 WHEN r < 0.75 THEN 1 WHEN r < 0.95 THEN 2 ELSE 3 END AS tier,
           CASE WHEN u < 0.7 THEN 0 WHEN u < 0.9 THEN 1 ELSE 2 END AS plan, (d.t * 100)::int AS completeness,
           (d.s * 100)::int AS health, d.u < 0.9 AS shown, ARRAY(
             SELECT key FROM json_each_text($1)
             WHERE mod(abs(hashtextextended(key, d.n)), 1000) < value::int
           ) AS tags
         FROM drawn d JOIN brands b ON b.i = d.brand JOIN zips z ON z.i = d.zip`,
        [JSON.stringify(tags)]
      )
      await client.query(
        `INSERT INTO businesses (id, project_id, name, slug, description, industry, template_type, city, state)
         SELECT business, 'bench', name, lower(business), 'A place of ' || name || ' in ' || city, industry,
           "templateType", city, state FROM made`
      )
      await client.query(
        `INSERT INTO listings (id, business_id, categories, tags, status, published_at, name, description, business_name,
           business_slug, industry, template_type, city, state, latitude, longitude, tier, verification_tier,
           health_score, profile_completeness, relevance_score)
         SELECT id, business, categories, tags, CASE WHEN shown THEN 'active' ELSE 'pending' END, now(), name,
           'A place of ' || name || ' in ' || city, name, lower(business), industry, "templateType", city, state,
           latitude, longitude, (ARRAY['basic', 'featured', 'premium'])[plan + 1], tier, health, completeness,
           200 * tier + 100 * plan + 2 * completeness + health
         FROM made`
      )
      await client.query("DROP TABLE drawn; DROP TABLE made")
    }
    await client.query("VACUUM ANALYZE listings")
    await client.query("VACUUM ANALYZE businesses")
    await client.query("VACUUM ANALYZE directory_entries")
    await client.query("VACUUM ANALYZE directory_vocabulary")
    await client.query("VACUUM ANALYZE directory_places")
    await client.query("ANALYZE directory_counts, directory_place_counts, directory_word_counts")
  } finally {
    client.release()
  }
}
