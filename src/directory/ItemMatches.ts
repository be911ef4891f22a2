import { PriceType } from "#src/format/ReadyConfig.ts"
import { many, one } from "#src/shared/sql.ts"
import { SqlClient, type Statement } from "@effect/sql"
import { Array as Arr, Effect, Option, Schema } from "effect"
import { DirectoryMatches } from "./DirectoryMatches.ts"
import { locationOf } from "./location.ts"
import { contentOf, withoutNearMe } from "./stop-words.ts"

/** More words than this are in no item's name and description. */
const mostWords = 8

/** So many listings whose bits agree are looked at. A bit stands for several items: not each has an item that matches. */
const mostCandidates = 500

/** So many items of a listing that match are compared, the cheapest. */
const mostCompared = 200

/** Listings that one transaction indexes: of 5,000 items each, a minute. */
const foldBatch = 100

const Words = Schema.Struct({ words: Schema.Array(Schema.String) })

const Match = Schema.Struct({
  id: Schema.String,
  businessSlug: Schema.String,
  name: Schema.String,
  description: Schema.String,
  categories: Schema.Array(Schema.String),
  city: Schema.String,
  state: Schema.String,
  verificationTier: Schema.Int,
  item: Schema.String,
  furtherItems: Schema.Int,
  priceCents: Schema.NullOr(Schema.Int),
  priceType: PriceType
})

export interface ItemSearch {
  readonly search: string
  readonly location?: string
  readonly category?: string
  /** US cents: only listings whose item costs that or less. */
  readonly mostCents?: number
}

/** Shown listings found by what they offer (docs/decisions/catalog-words.md). */
export class ItemMatches extends Effect.Service<ItemMatches>()("directory/ItemMatches", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const matches = yield* DirectoryMatches
    const lexemesOf = one(Words)((text: string) => sql`SELECT catalog_lexemes(${text}) AS words`)

    /** What is looked for, without the words that say nothing of it. */
    const wordsOf = Effect.fnUntraced(function*(search: string) {
      const plain = withoutNearMe(search).replaceAll(/['\u2019]/g, "").split(/[\s,;:!?]+/).filter((word) => word !== "")
      const content = contentOf(plain.map((word) => word.toLowerCase()), () => false)
      const { words } = yield* lexemesOf(content.join(" "))
      return words
    })

    /**
     * Best first, at most `count`: those of which one item, with the listing's own words, has all words of the search. Of
     * such items the one that has the most of the words itself is told; of equal ones the cheapest.
     */
    const find = Effect.fn("ItemMatches.find")(function*(
      { category, location, mostCents, search }: ItemSearch,
      count: number
    ) {
      const words = yield* wordsOf(search)
      if (!Arr.isNonEmptyReadonlyArray(words) || words.length > mostWords) return []
      const place = location === undefined ? undefined : yield* locationOf(location)
      const among = yield* matches.cte({
        ...(category === undefined ? {} : { category }),
        ...(place === undefined ? {} : { location: place })
      })
      if (Option.isNone(among)) return []
      const row = (i: number) => sql.literal(`w${i}`)
      const each = words.map((word, i) => ({ word, w: row(i) }))
      const joined = (separator: string, parts: ReadonlyArray<ReturnType<typeof row>>) =>
        sql.join(separator, false)(parts)
      const bits = sql`${
        joined(" & ", each.map(({ w }) => sql`(CASE WHEN ${w}.is_own THEN -1 ELSE ${w}.items END)`))
      } & (${joined(" | ", each.map(({ w }) => sql`${w}.items`))})`
      const inItem = joined(", ", each.map(({ w, word }) => sql`CASE WHEN NOT ${w}.is_own THEN ${word} END`))
      // A state has many listings: the words are read in their order, until enough of them are there. A city has few: the
      // words are joined to them. PostgreSQL does not turn a comparison with IS TRUE into a join.
      const isThere = sql`w0.number IN (SELECT number FROM matching)`
      const isAmong = place === undefined || place.states.length > 0 ? sql`(${isThere}) IS TRUE` : isThere
      const found = (lexemes: Statement.Fragment) =>
        sql`(SELECT count(*) FROM unnest(${lexemes}) AS word WHERE word = ANY(${words}::text[]))`
      const isWithin = mostCents === undefined ? sql`true` : sql`coalesce(i.price_cents <= ${mostCents}, false)`
      return yield* many(Match)(() =>
        sql`${among.value === undefined ? sql`` : sql`WITH ${among.value}`}
          SELECT m.* FROM (
            SELECT w0.rank, w0.number, ${bits} AS bits, array_remove(ARRAY[${inItem}], NULL) AS needed
            FROM catalog_words w0 ${
          joined(
            " ",
            each.slice(1).map(({ w, word }) =>
              sql`JOIN catalog_words ${w} ON ${w}.word = ${word} AND (${w}.rank, ${w}.number) = (w0.rank, w0.number)`
            )
          )
        }
            WHERE w0.word = ${words[0]} AND ${bits} <> 0 ${among.value === undefined ? sql`` : sql`AND ${isAmong}`}
            ORDER BY w0.rank, w0.number LIMIT ${mostCandidates}
          ) c CROSS JOIN LATERAL (
            SELECT l.id, l.business_slug, l.name, l.description, l.categories, l.city, l.state, l.verification_tier,
              i.name AS item, i.price_cents, i.price_type,
              (count(*) OVER (PARTITION BY i.fit, i.is_within) - 1)::int AS further_items
            FROM listings l CROSS JOIN LATERAL (
              SELECT i.name, i.price_cents, i.price_type, i.sort_order, i.id, ${isWithin} AS is_within,
                ${found(sql`t.words`)} AS fit, ${found(sql`catalog_item_lexemes(i.name, k.name, '')`)} AS name_fit
              FROM (
                SELECT i.id, i.name, i.description, i.category_id, i.price_type, i.sort_order,
                  CASE WHEN i.price_type <> 'free_estimate' THEN i.price_cents END AS price_cents
                FROM catalog_items i
                WHERE i.business_id = l.business_id AND i.is_available AND catalog_bit(i.id) & c.bits <> 0
                ORDER BY 7, i.sort_order, i.id OFFSET 0
              ) i LEFT JOIN catalog_categories k ON k.id = i.category_id,
              LATERAL (SELECT catalog_item_lexemes(i.name, k.name, i.description) AS words OFFSET 0) t
              WHERE t.words @> c.needed AND t.words && ${words}::text[]
              ORDER BY i.price_cents, i.sort_order, i.id LIMIT ${mostCompared}
            ) i
            WHERE l.number = c.number AND l.status = 'active' AND l.agent_access
            ORDER BY i.fit DESC, i.is_within DESC, i.name_fit DESC, i.price_cents, i.sort_order, i.id LIMIT 1
          ) m ${mostCents === undefined ? sql`` : sql`WHERE m.price_cents <= ${mostCents}`}
          ORDER BY c.rank, c.number LIMIT ${count}`
      )()
    })

    /** Those of the listings that have all words of the search themselves, whatever they offer. */
    const named = Effect.fn("ItemMatches.named")(function*(search: string, ids: ReadonlyArray<string>) {
      const words = yield* wordsOf(search)
      if (words.length === 0) return new Set<string>()
      const rows = yield* many(Schema.Struct({ id: Schema.String }))(() =>
        sql`SELECT l.id FROM listings l WHERE l.id = ANY(${ids}::text[])
          AND catalog_own_lexemes(l) @> ${words}::text[]`
      )()
      return new Set(rows.map(({ id }) => id))
    })

    const foldSome = one(Schema.Struct({ taken: Schema.Int }))(() => sql`SELECT catalog_fold(${foldBatch}) AS taken`)
    /** Indexes the listings whose catalogs changed, each batch in a transaction of its own. */
    const fold = Effect.repeat(foldSome(), { until: ({ taken }) => taken < foldBatch })

    return { find, named, fold } as const
  })
}) {}
