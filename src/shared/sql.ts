import { type SqlClient, type SqlError } from "@effect/sql"
import { Cause, Effect, type ParseResult, Predicate, Schema } from "effect"

/** Name of the constraint when a statement broke one of the kind (PostgreSQL error codes, class 23). */
const constraintOf = (code: string) => (error: SqlError.SqlError): string | undefined =>
  Predicate.hasProperty(error.cause, "code") && error.cause.code === code &&
    Predicate.hasProperty(error.cause, "constraint")
    ? String(error.cause.constraint)
    : undefined

const uniqueViolation = constraintOf("23505")
export const foreignKeyViolation = constraintOf("23503")

type StorageError = SqlError.SqlError | ParseResult.ParseError | Cause.NoSuchElementException

/**
 * Storage failures are nobody's domain: they end here, as defects, which the edges show as 500 or 503. So does a row
 * that a statement must return (`one`) and did not.
 */
export const dieOnSql = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, Exclude<E, StorageError>, R> =>
  Effect.catchAll(effect, (error) =>
    Predicate.isTagged(error, "SqlError") || Predicate.isTagged(error, "ParseError") ||
      Predicate.isTagged(error, "NoSuchElementException")
      ? Effect.die(error)
      : Effect.fail(error as Exclude<E, StorageError>))

/** A statement as a function of what goes into it. */
type Statement<Args extends ReadonlyArray<unknown>> = (
  ...args: Args
) => Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError>

/** A statement whose rows `decode` reads. Its storage failures die. */
const reading =
  <A>(decode: (rows: ReadonlyArray<unknown>) => Effect.Effect<A, StorageError>) =>
  <Args extends ReadonlyArray<unknown>>(statement: Statement<Args>) =>
  (...args: Args): Effect.Effect<A> => dieOnSql(Effect.flatMap(Effect.suspend(() => statement(...args)), decode))

/** `many(Row)((id: string) => sql`…`)`: every row, as the schema decodes it. Storage failures die, as in the others. */
export const many = <A, I>(row: Schema.Schema<A, I>) => reading(Schema.decodeUnknown(Schema.Array(row)))

/** The first row, if there is one. */
export const maybe = <A, I>(row: Schema.Schema<A, I>) => {
  const decode = Schema.decodeUnknown(row)
  return reading((rows) => rows.length > 0 ? Effect.asSome(decode(rows[0])) : Effect.succeedNone)
}

/** The row that the statement must return. */
export const one = <A, I>(row: Schema.Schema<A, I>) => {
  const decode = Schema.decodeUnknown(row)
  return reading((rows) => rows.length > 0 ? decode(rows[0]) : Effect.fail(new Cause.NoSuchElementException()))
}

/** The row of `SELECT count(*)::int AS count`, for `one`. */
export const Count = Schema.Struct({ count: Schema.Int }).pipe(Schema.pluck("count"))

/** Runs what returns no rows, or none that anybody wants. */
export const run = <A, E, R>(effect: Effect.Effect<A, E, R>) => dieOnSql(Effect.asVoid(effect))

/** Whether the statement returns a row. */
export const anyRow = <E, R>(statement: Effect.Effect<ReadonlyArray<unknown>, E, R>) =>
  dieOnSql(Effect.map(statement, (rows) => rows.length > 0))

/** Runs the work in one transaction, or as part of the one it is called in. */
export const transactionally = (sql: SqlClient.SqlClient) => <A, E, R>(work: Effect.Effect<A, E, R>) =>
  dieOnSql(sql.withTransaction(work))

const onViolation =
  (violation: (error: SqlError.SqlError) => string | undefined) =>
  <E2>(constraint: string, failure: () => E2) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.catchAll(
      effect,
      (error: E): Effect.Effect<never, E | E2> =>
        isSqlError(error) && violation(error) === constraint ? Effect.fail(failure()) : Effect.fail(error)
    )

/** A unique violation of the named constraint becomes a failure of the domain. */
export const onUnique = onViolation(uniqueViolation)

/** So does a foreign key's: what the row belongs to was deleted since it was looked at. */
export const onForeignKey = onViolation(foreignKeyViolation)

const isSqlError = (error: unknown): error is SqlError.SqlError => Predicate.isTagged(error, "SqlError")

/**
 * For work that nobody waits for: a statement of it may take ten minutes, where those of a request are stopped after
 * fifteen seconds (sql/statement-limit.ts). It is one transaction.
 */
export const patiently = (sql: SqlClient.SqlClient) => <A, E, R>(work: Effect.Effect<A, E, R>) =>
  transactionally(sql)(Effect.zipRight(sql`SET LOCAL statement_timeout = 600000`, work))
