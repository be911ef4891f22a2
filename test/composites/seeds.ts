import { newUlid } from "#src/shared/ids.ts"
import { type Account } from "../support/account.ts"
import { runSql } from "../support/sql.ts"
import { type Seed } from "./model.ts"

const columns = `id text, business text, name text, categories json, tags json, industry text, city text, state text,
  lat float8, lng float8, active boolean, tier text, trust int, health int`

/** Writes listings as they are, below a project of the account. */
export const store = async (url: string, owner: Account, all: ReadonlyArray<Seed>) => {
  const project = await owner.project()
  const rows = JSON.stringify(all.map((one) => ({ ...one, business: newUlid() })))
  await runSql(
    url,
    `INSERT INTO businesses (id, project_id, name, slug, industry, template_type)
       SELECT business, $2, name, lower(business), industry, 'custom' FROM json_to_recordset($1) AS g(${columns})`,
    [rows, project.id]
  )
  await runSql(
    url,
    `INSERT INTO listings (id, business_id, categories, tags, status, published_at, name, description, business_name,
         business_slug, industry, template_type, city, state, latitude, longitude, tier, verification_tier, health_score)
       SELECT id, business, ARRAY(SELECT json_array_elements_text(categories)), ARRAY(SELECT json_array_elements_text(tags)),
         CASE WHEN active THEN 'active' ELSE 'pending' END, now(), name, '', name, lower(business), industry, 'custom',
         city, state, lat, lng, tier, trust, health
       FROM json_to_recordset($1) AS g(${columns})`,
    [rows]
  )
}

/** Makes listings be like this, in one statement. */
export const change = (url: string, all: ReadonlyArray<Seed>) =>
  runSql(
    url,
    `UPDATE listings l SET status = CASE WHEN g.active THEN 'active' ELSE 'pending' END, industry = g.industry,
       city = g.city, state = g.state, tier = g.tier, verification_tier = g.trust, health_score = g.health,
       categories = ARRAY(SELECT json_array_elements_text(g.categories)),
       tags = ARRAY(SELECT json_array_elements_text(g.tags))
     FROM json_to_recordset($1) AS g(${columns}) WHERE l.id = g.id`,
    [JSON.stringify(all)]
  )

/** A listing of a kind at a place, good enough to be a member. */
export const seedOf = (fields: Partial<Seed> = {}): Seed => ({
  id: newUlid(),
  name: "Copper Ladle",
  categories: [],
  tags: [],
  industry: "restaurant",
  city: "Austin",
  state: "TX",
  lat: 30.27,
  lng: -97.74,
  active: true,
  tier: "basic",
  trust: 2,
  health: 100,
  ...fields
})
