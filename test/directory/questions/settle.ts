import { newUlid } from "#src/shared/ids.ts"
import { type Pool } from "pg"
import { always, never } from "../../support/directory-door.ts"
import { town } from "./town.ts"

const hoursOf = (isOpen: boolean | undefined) => isOpen === undefined ? {} : isOpen ? always : never

/** Puts the town into the directory, as a project's businesses. */
export const settle = async (pool: Pick<Pool, "query">, projectId: string) => {
  for (const { categories, isOpen, items, name, place: [city, state, latitude, longitude] } of town) {
    const [business, listing] = [newUlid(), newUlid()]
    await pool.query(
      `INSERT INTO businesses (id, project_id, name, slug, industry, template_type, city, state, hours)
       VALUES ($1, $2, $3, $4, 'custom', 'custom', $5, $6, $7)`,
      [business, projectId, name, business.toLowerCase(), city, state, JSON.stringify(hoursOf(isOpen))]
    )
    await pool.query(
      `INSERT INTO listings (id, business_id, status, published_at, name, description, business_name, business_slug, industry,
         template_type, city, state, latitude, longitude, categories, tier, verification_tier, relevance_score)
       VALUES ($1, $2, 'active', now(), $3, '', $3, $4, 'custom', 'custom', $5, $6, $7, $8, $9, 'basic', 1, 200)`,
      [listing, business, name, business.toLowerCase(), city, state, latitude, longitude, categories]
    )
    for (const item of items) {
      await pool.query(
        `INSERT INTO catalog_items (id, business_id, name, item_type, price_cents, price_type, sort_order)
         VALUES ($1, $2, $3, 'product', 900, 'fixed', 0)`,
        [newUlid(), business, item]
      )
    }
  }
}
