import { type SqlClient, type Statement } from "@effect/sql"
import { leastHealth } from "./QueryDefinition.ts"

/** A category or a tag of listings. */
export interface Label {
  readonly isTag: boolean
  readonly label: string
}

/** Which groups a query is for. Texts as the caller wrote them. */
export interface GroupFilter {
  readonly vertical?: string
  readonly city?: string
  readonly state?: string
  /** All members have this verification tier at least. */
  readonly trust: number
  readonly minMembers: number
  /** Which members count: of this health score at least, and of this weight of their listing tier (0: any). */
  readonly leastHealth: number
  readonly weight: number
  /** Only members with these count: one, or two that are broad. */
  readonly labels?: ReadonlyArray<Label>
  /** The numbers of the labels, which are broad: what groups come to by them is stored by health, tier and place. */
  readonly broad?: ReadonlyArray<number>
}

/** A group's place in the order of a dynamic query: by rank, which is below zero so that the best is first, then by id. */
export interface GroupKey {
  readonly rank: number
  readonly id: string
}

type Size = Pick<GroupFilter, "trust" | "minMembers">
export type Narrowing = Pick<GroupFilter, "leastHealth" | "weight">

/** Not every eligible listing of a group counts. */
export const isNarrow = ({ leastHealth: least, weight }: Narrowing) => least > leastHealth || weight > 0

/** Sizes that have an index of their own (migrations 0022, 0043): of groups, of their steps, and by label. */
const groupSizes = [50, 20, 10, 5, 3, 2]
const stepSizes = [20, 5, 2]
const labelSizes = [5]

/** The SQL fragments for groups of listings by vertical, state and city (docs/decisions/composite-counts.md). */
export const GroupSql = (sql: SqlClient.SqlClient) => {
  /**
   * The vertical, city and state of a filter, as conditions on groups `g`. In a prepared statement each is a subquery, or
   * PostgreSQL would make it a key again for each row.
   */
  const ofKeys = (
    { city, state, vertical }: Pick<GroupFilter, "vertical" | "city" | "state">,
    isPrepared = true
  ) => {
    const made = (key: Statement.Fragment) => isPrepared ? sql`(SELECT ${key})` : key
    return [
      ...(vertical === undefined ? [] : [sql`g.vertical = ${made(sql`composite_key(${vertical})`)}`]),
      ...(state === undefined ? [] : [sql`g.state = ${made(sql`composite_state(${state})`)}`]),
      ...(city === undefined ? [] : [sql`g.city = ${made(sql`composite_key(${city})`)}`])
    ]
  }

  /**
   * Conditions on columns `n` and `trust`. A partial index is used for a number that stands in the statement. A tier is
   * worth 50 points at least: groups of worse rank need not be read.
   */
  const sized = (sizes: ReadonlyArray<number>) => (row: Statement.Fragment, { minMembers, trust }: Size) => {
    const indexed = sizes.find((size) => size <= minMembers) ?? 1
    return [
      sql`${row}.n >= ${sql.literal(String(indexed))}`,
      ...(indexed === minMembers ? [] : [sql`${row}.n >= ${minMembers}`]),
      ...(trust === 0 ? [] : [sql`${row}.trust >= ${trust}`, sql`${row}.rank <= ${-50 * trust}`])
    ]
  }
  const groupSized = sized(groupSizes)
  const ofSize = (row: Statement.Fragment, size: Size) => [sql`${row}.is_composite`, ...groupSized(row, size)]
  const stepSized = sized(stepSizes)
  const ofNarrowing = (row: Statement.Fragment, { leastHealth: least, weight }: Narrowing) => [
    sql`${row}.of_weight = ${weight} AND ${row}.below < ${least}`,
    sql`${row}.health_min >= ${least}`
  ]
  /** The step of each group that such members come to. */
  const ofStep = (row: Statement.Fragment, filter: Size & Narrowing) => [
    ...ofNarrowing(row, filter),
    ...stepSized(row, filter)
  ]
  /** Steps of one broad label, or of two: of what has the first and the second number. */
  const ofNumbers = (row: Statement.Fragment, [label, withLabel = 0]: ReadonlyArray<number>) =>
    sql`${row}.label = ${label} AND ${row}.with_label = ${withLabel}`
  /** Rows of this category or tag: of `composite_labels` and what is counted of it. */
  const ofLabel = (row: Statement.Fragment, { isTag, label }: Label) =>
    sql`${row}.label = ${label} AND ${row}.is_tag = ${isTag}`
  const labelSized = sized(labelSizes)
  /** The step of each group that its members with broad labels come to. */
  const ofBroad = (row: Statement.Fragment, filter: Size & Narrowing, broad: ReadonlyArray<number>) => [
    ofNumbers(row, broad),
    ...ofNarrowing(row, filter),
    ...labelSized(row, filter)
  ]
  /** What each group comes to by its members with a label. */
  const ofLabelled = (row: Statement.Fragment, size: Size, label: Label) => [
    ofLabel(row, label),
    ...labelSized(row, size)
  ]
  /** Which entries `e` count. A member has a row for each of its labels. */
  const ofEntry = (
    { labels: [label, other] = [], ...narrowing }: Pick<GroupFilter, "leastHealth" | "weight" | "labels">
  ) => [
    ...(label === undefined ? [] : [ofLabel(sql`e`, label)]),
    ...(other === undefined ? [] : [
      sql`EXISTS (SELECT FROM composite_labels o
        WHERE ${ofLabel(sql`o`, other)} AND (o.group_number, o.number) = (e.group_number, e.number))`
    ]),
    ...(narrowing.leastHealth > leastHealth ? [sql`e.health >= ${narrowing.leastHealth}`] : []),
    ...(narrowing.weight > 0 ? [sql`e.weight = ${narrowing.weight}`] : [])
  ]

  const after = (row: Statement.Fragment, key: GroupKey | undefined) =>
    key === undefined ? [] : [sql`(${row}.rank, ${row}.id) > (${key.rank}, ${key.id})`]

  /** Sums over entries `e` of one group. The rank is exact up to its one division. */
  const sums = sql`count(*)::int AS n, min(e.trust) AS trust, sum(e.health)::bigint AS health,
    sum(e.weight)::bigint AS weight,
    (min(e.trust) * sum(e.health) * sum(e.weight))::float8 / -(count(*) * count(*)) AS rank`
  const verifiedSums = sql`count(*) FILTER (WHERE e.trust >= 2)::int AS verified_n,
    coalesce(min(e.trust) FILTER (WHERE e.trust >= 2), 0) AS verified_trust,
    coalesce(sum(e.health) FILTER (WHERE e.trust >= 2), 0)::bigint AS verified_health`

  /**
   * CTEs. `marked`: groups that changed since they were counted; `recounted`: those of them that have members, counted
   * now. In one statement with the stored counts of all others they are exact. `groups`: numbers of those of interest;
   * `entries`: which members count, of the table `from`.
   */
  const recounted = ({ entries = [], from = sql`composite_entries`, groups }: {
    readonly entries?: ReadonlyArray<Statement.Fragment>
    readonly from?: Statement.Fragment
    readonly groups?: Statement.Fragment
  } = {}) =>
    sql`marked AS MATERIALIZED (
      SELECT DISTINCT group_number FROM composite_marks
      ${groups === undefined ? sql`` : sql`WHERE group_number IN (${groups})`}
    ), recounted AS MATERIALIZED (
      SELECT g.number, g.id, g.vertical, g.state, g.city, g.is_composite, c.* FROM (
        SELECT e.group_number, ${sums}, ${verifiedSums} FROM ${from} e
        WHERE ${sql.and([sql`e.group_number = ANY(ARRAY(SELECT group_number FROM marked))`, ...entries])} GROUP BY 1
      ) c JOIN composite_groups g ON g.number = c.group_number
    )`
  const isCounted = sql`g.number NOT IN (SELECT group_number FROM marked)`

  return {
    ofKeys,
    ofSize,
    ofStep,
    ofLabel,
    ofLabelled,
    ofBroad,
    ofNumbers,
    ofEntry,
    after,
    sums,
    verifiedSums,
    recounted,
    isCounted
  } as const
}
