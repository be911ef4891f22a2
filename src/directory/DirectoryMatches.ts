import { dieOnSql, one } from "#src/shared/sql.ts"
import { SqlClient, type Statement } from "@effect/sql"
import { Array as Arr, Effect, Option, Schema } from "effect"
import { choose } from "./access-path.ts"
import { type Circle } from "./DirectoryQuery.ts"
import { DirectoryRepo } from "./DirectoryRepo.ts"
import { type Location } from "./location.ts"
import { type Predicate } from "./predicates.ts"
import { Conditions, noPlaces } from "./search-sql.ts"
import { wordsPredicate } from "./search-words.ts"
import { accessPathsOf, labelsPredicate } from "./search.ts"

/** What other rooms search the directory by. City and state are whole, whatever their case and accents. */
export interface MatchFilters {
  readonly search?: string
  readonly category?: string
  readonly circle?: Circle
  readonly city?: string
  readonly state?: string
  /** In place of city and state: as the directory takes it. */
  readonly location?: Location
}

const Places = Schema.Struct({ ids: Schema.String, states: Schema.Array(Schema.String) })

/** The listings that a search of the directory finds, for statements of other rooms. */
export class DirectoryMatches extends Effect.Service<DirectoryMatches>()("directory/DirectoryMatches", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const repo = yield* DirectoryRepo
    const { matching } = Conditions(sql)

    const places = one(Places)(({ city, state }: MatchFilters) =>
      city === undefined
        ? sql`SELECT '{}' AS ids, ARRAY(
            SELECT s.state FROM directory_states s WHERE composite_state(s.state) = composite_state(${state})
          ) AS states`
        : sql`SELECT ARRAY(
            SELECT p.id FROM directory_places p WHERE p.folded = directory_place_name(${city}) ${
          state === undefined ? sql`` : sql`AND composite_state(p.state) = composite_state(${state})`
        })::text AS ids, '{}'::text[] AS states`
    )

    /**
     * The CTE `matching`, whose column `number` is the listings'; none when nothing can match. Undefined without a filter
     * that needs the directory's indexes: city and state alone do not.
     */
    const cte = Effect.fn("DirectoryMatches.cte")(
      function*(filters: MatchFilters): Effect.fn.Return<Option.Option<Statement.Fragment | undefined>> {
        const { category, circle, city, location, search, state } = filters
        if ([search, category, circle, location].every((filter) => filter === undefined)) return Option.some(undefined)
        const labels = yield* labelsPredicate(repo, category === undefined ? {} : { category })
        if (Option.isNone(labels)) return Option.none()
        const zip = location?.zip
        const located = location !== undefined
          ? yield* repo.located(location, undefined)
          : city === undefined && state === undefined
          ? undefined
          : yield* places(filters)
        if (located?.ids === noPlaces && located.states.length === 0 && zip === undefined) return Option.none()
        const accessPaths = accessPathsOf(
          circle === undefined ? {} : { circle },
          located === undefined ? undefined : { _tag: "places", ids: located.ids, states: located.states, zip }
        )
        const label = labels.value === undefined ? [] : [labels.value]
        const others: ReadonlyArray<Predicate> = [...accessPaths, ...label]
        const words = search === undefined ? undefined : yield* wordsPredicate(repo, search)
        if (words === undefined) {
          const paths = Arr.isNonEmptyReadonlyArray(accessPaths) ? accessPaths : label
          return Option.some(
            Arr.isNonEmptyReadonlyArray(paths) ? matching(yield* choose(repo, paths), others) : undefined
          )
        }
        if (words._tag !== "words") return Option.some(matching(words, [words, ...others]))
        const all = yield* choose(repo, [words, ...accessPaths])
        const isAll = words.spellings.length === 1 ||
          (yield* repo.indexScan(all, [words, ...others], { after: undefined, count: 0 })).total > 0
        if (isAll) return Option.some(matching(all, [words, ...others]))
        const some = { ...words, least: 1, rarest: words.spellings.length } as const
        return Option.some(matching(yield* choose(repo, [some, ...accessPaths]), [some, ...others]))
      },
      dieOnSql
    )

    return { cte } as const
  })
}) {}
