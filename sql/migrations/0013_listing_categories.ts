import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * A listing's categories follow its business until its owner sets them, as its name and description do. Where a business
 * gave no coordinates, its listing may stand at the centre of its zip code; `zip` has that code's five digits.
 */
export default Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`
    ALTER TABLE listings
      ADD own_categories text[],
      ADD is_place_approximate boolean NOT NULL DEFAULT false,
      ADD zip text NOT NULL DEFAULT '';

    UPDATE listings l SET zip = substring(b.zip FROM '\\d{5}') FROM businesses b
      WHERE b.id = l.business_id AND b.zip ~ '^\\s*\\d{5}(-\\d{4})?\\s*$';

    UPDATE listings SET own_categories = categories WHERE categories <> '{}';

    UPDATE listings l SET categories = f.categories FROM (
      SELECT b.id, array_remove(ARRAY[
        nullif(b.category, ''),
        CASE b.template_type
          WHEN 'restaurant' THEN 'Restaurant' WHEN 'salon' THEN 'Salon' WHEN 'home_services' THEN 'Home services'
          WHEN 'retail' THEN 'Retail' WHEN 'professional_services' THEN 'Professional services'
        END
      ], NULL) AS categories FROM businesses b
    ) f WHERE f.id = l.business_id AND l.own_categories IS NULL AND f.categories <> '{}';
  `)

  // Businesses of the United States with a zip code and without coordinates.
  const unplaced = sql.literal(
    `FROM businesses b WHERE b.latitude IS NULL AND b.zip ~ '^\\s*\\d{5}(-\\d{4})?\\s*$' AND
      b.country ~* '^\\s*(|usa?|u\\.s\\.(a\\.)?|united states( of america)?)\\s*$'`
  )
  const zips = yield* sql`SELECT DISTINCT substring(b.zip, '\\d{5}') AS zip ${unplaced}`
  if (zips.length === 0) return
  const { default: { lookup } } = yield* Effect.promise(() => import("zipcodes"))
  const places = zips.map(({ zip }) => String(zip)).flatMap((zip) => {
    const place = lookup(zip)
    return place === undefined ? [] : [{ zip, latitude: place.latitude, longitude: place.longitude }]
  })
  yield* sql`UPDATE listings l SET latitude = p.latitude, longitude = p.longitude, is_place_approximate = true
    FROM json_to_recordset(${JSON.stringify(places)}::json) AS p(zip text, latitude float8, longitude float8), (
      SELECT b.id, substring(b.zip, '\\d{5}') AS zip ${unplaced}
    ) b WHERE b.id = l.business_id AND b.zip = p.zip`
})
