import { newUlid } from "#src/shared/ids.ts"
import { type Account } from "../support/account.ts"
import { runSql } from "../support/sql.ts"
import { type Seed } from "./model.ts"

/** Numbers that are the same each time. */
const random = (seed: number) => () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return seed / 2 ** 32
}
const next = random(4)
const pick = <A>(values: ReadonlyArray<A>) => values[Math.floor(next() * values.length)]!

const places = [
  ["Chicago", "IL", 41.88, -87.63],
  ["CHICAGO", "IL", 41.97, -87.7],
  ["Chicago Heights", "IL", 41.51, -87.64],
  ["West Chicago", "IL", 41.88, -88.2],
  ["Springfield", "IL", 39.8, -89.64],
  ["Springfield", "MO", 37.21, -93.29],
  ["Milwaukee", "WI", 43.04, -87.91],
  ["Ilford", "Essex", 51.56, 0.07],
  ["Suva", "Fiji", -18.14, 178.44],
  ["Taveuni", "Fiji", -16.85, -179.97],
  ["100%_Town", "A\\B", 0, 0],
  ["", "", null, null]
] as const
const words =
  "copper ladle kitchen garden restaurant bakery barber salon plumbing bank coffee house royal golden bella " +
  "joes pizza pizzeria taqueria north south corner electric brothers and the saint seven café 김밥천국 東京 東京ラーメン"
const kinds = [
  ["restaurant", "pizza place"],
  ["restaurant", "restaurant"],
  ["salon", "barber"],
  ["home_services", "plumber"],
  ["retail", "retail"],
  ["custom", "restaurant"]
] as const
export const categories = ["Pizza", "pizza", "Coffee", "Hair", "Repairs", "It's \"odd\", {really}"]

const seed = (): Seed => {
  const [city, state, lat, lng] = pick(places)
  const [templateType, industry] = pick(kinds)
  const tier = Math.floor(next() * 4)
  const some = () => categories.filter(() => next() < 0.3)
  return {
    id: newUlid(),
    name: Array.from({ length: 1 + Math.floor(next() * 3) }, () => pick(words.split(" "))).join(" "),
    categories: some(),
    city,
    state,
    templateType,
    industry,
    lat: lat === null ? null : lat + (next() - 0.5) / 4,
    lng: lng === null ? null : Math.max(-180, Math.min(180, lng + (next() - 0.5) / 4)),
    tier,
    // Few different ones, so that ids decide.
    score: 200 * tier + 50 * Math.floor(next() * 4),
    active: next() < 0.8
  }
}

export const seeds = (count: number) => Array.from({ length: count }, seed)

/** Writes the listings as they are, below a project of the account. */
export const store = async (url: string, owner: Account, all: ReadonlyArray<Seed>) => {
  const project = await owner.project()
  const rows = all.map((one) => ({ ...one, business: newUlid() }))
  await runSql(
    url,
    `WITH given AS (
       SELECT * FROM json_to_recordset($1) AS g(id text, business text, name text, categories json, city text,
         state text, industry text, "templateType" text, lat float8, lng float8, tier int, score int, active boolean)
     ), made AS (
       INSERT INTO businesses (id, project_id, name, slug, industry, template_type)
         SELECT business, $2, name, lower(business), industry, "templateType" FROM given
     )
     SELECT count(*) FROM given`,
    [JSON.stringify(rows), project.id]
  )
  await runSql(
    url,
    `INSERT INTO listings (id, business_id, categories, status, published_at, name, description, business_name,
         business_slug, industry, template_type, city, state, latitude, longitude, tier, verification_tier,
         relevance_score)
       SELECT id, business, ARRAY(SELECT json_array_elements_text(categories)),
         CASE WHEN active THEN 'active' ELSE 'pending' END, now(), name, '', name, lower(business), industry,
         "templateType", city, state, lat, lng, 'basic', tier, score
       FROM json_to_recordset($1) AS g(id text, business text, name text, categories json, city text, state text,
         industry text, "templateType" text, lat float8, lng float8, tier int, score int, active boolean)`,
    [JSON.stringify(rows)]
  )
}
