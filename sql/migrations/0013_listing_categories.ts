import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * A listing's categories follow its business until its owner sets them, as its name and description do. Where a business
 * gave no coordinates, its listing may stand at the centre of its zip code.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    ALTER TABLE listings
      ADD own_categories text[],
      ADD is_place_approximate boolean NOT NULL DEFAULT false;

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
  `))
