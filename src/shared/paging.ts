import { Effect, Either, Encoding, Schema } from "effect"
import { BadRequest } from "./Failure.ts"
import { optional, Query, QueryCount } from "./text.ts"

/** The maximum number of results, in a query. */
export const QueryLimit = (max: number) =>
  QueryCount.pipe(
    Schema.int(),
    Schema.between(1, max),
    Schema.annotations({ jsonSchema: { type: "integer", minimum: 1, maximum: max } })
  )

/** Query of the platform's lists: `limit` 1–100 (default 20), `cursor` opaque. */
export const PageQuery = Query({
  limit: Schema.optionalWith(QueryLimit(100), { exact: true, default: () => 20 }),
  cursor: optional(Schema.String)
})

/** The same as a tool's argument, with its type inline: not every client follows `$ref` and `allOf`. */
export const LimitArgument = (max: number, byDefault: number) =>
  Schema.optionalWith(
    Schema.Number.pipe(
      Schema.int(),
      Schema.between(1, max),
      Schema.annotations({ jsonSchema: { type: "integer", minimum: 1, maximum: max, default: byDefault } })
    ),
    { exact: true, default: () => byDefault }
  )

/** The page query as a tool's arguments. */
export const PageArguments = {
  limit: LimitArgument(100, 20),
  cursor: optional(Schema.String)
}

export interface PageRequest {
  readonly limit: number
  readonly cursor?: string
}

export interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly meta: { readonly cursor: string | null; readonly hasMore: boolean; readonly total: number }
}

export const Meta = Schema.Struct({
  cursor: Schema.NullOr(Schema.String),
  hasMore: Schema.Boolean,
  total: Schema.Int
})

/** The list envelope of the contract: `{ data, meta: { cursor, hasMore, total } }`. */
export const PageOf = <A, I, R>(item: Schema.Schema<A, I, R>) => Schema.Struct({ data: Schema.Array(item), meta: Meta })

/**
 * An opaque cursor that is bound to one list: `list` names the list and its subject, so that a cursor of another list
 * is rejected instead of answered with the wrong page.
 */
export const encodeCursor = (list: string, last: string) => Encoding.encodeBase64Url(`${list}\n${last}`)

export const decodeCursor = (list: string, cursor: string, isKey: (text: string) => boolean) => {
  const text = Either.getOrElse(Encoding.decodeBase64UrlString(cursor), () => "")
  const at = text.indexOf("\n")
  const key = text.slice(at + 1)
  return text.slice(0, at) === list && isKey(key)
    ? Effect.succeed(key)
    : new BadRequest({ reason: "cursor: not a cursor of this list" })
}

/**
 * Reads one page by keyset. `read` gets the key to continue after (undefined at the start) and the number of rows: one
 * more than a page, to know whether there is another.
 */
export const paginate = Effect.fnUntraced(function*<A, E, R, E2, R2>(options: {
  readonly list: string
  readonly request: PageRequest
  readonly isKey: (text: string) => boolean
  readonly read: (after: string | undefined, count: number) => Effect.Effect<ReadonlyArray<A>, E, R>
  readonly keyOf: (item: NoInfer<A>) => string
  /** Of the whole list: its first row may tell. */
  readonly total: (first: NoInfer<A> | undefined) => Effect.Effect<number, E2, R2>
}) {
  const { cursor, limit } = options.request
  const after = cursor === undefined ? undefined : yield* decodeCursor(options.list, cursor, options.isKey)
  const rows = yield* options.read(after, limit + 1)
  const data = rows.slice(0, limit)
  const last = data.at(-1)
  const hasMore = rows.length > limit
  return {
    data,
    meta: {
      cursor: hasMore && last !== undefined ? encodeCursor(options.list, options.keyOf(last)) : null,
      hasMore,
      total: yield* options.total(rows[0])
    }
  } satisfies Page<A>
})
