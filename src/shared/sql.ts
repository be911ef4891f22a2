import { type SqlClient, type SqlError } from "@effect/sql"
import { Cause, Effect, type ParseResult, Predicate, Schema } from "effect"
import { decodePassing } from "./passing.ts"

/** Name of the violated constraint, if the error has the code (PostgreSQL error codes, class 23). */
const constraintOf = (code: string) => (error: SqlError.SqlError): string | undefined =>
  Predicate.hasProperty(error.cause, "code") && error.cause.code === code &&
    Predicate.hasProperty(error.cause, "constraint")
    ? String(error.cause.constraint)
    : undefined

const uniqueViolation = constraintOf("23505")
export const foreignKeyViolation = constraintOf("23503")

type StorageError = SqlError.SqlError | ParseResult.ParseError | Cause.NoSuchElementException

/**
 * Turns storage failures into defects, since no domain rule handles them; HTTP and MCP answer 500 or 503. A missing row
 * that a statement must return (`one`) is treated the same.
 */
export const dieOnSql = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, Exclude<E, StorageError>, R> =>
  Effect.catchAll(effect, (error) =>
    Predicate.isTagged(error, "SqlError") || Predicate.isTagged(error, "ParseError") ||
      Predicate.isTagged(error, "NoSuchElementException")
      ? Effect.die(error)
      : Effect.fail(error as Exclude<E, StorageError>))

/** A statement as a function of its parameters. */
type Statement<Args extends ReadonlyArray<unknown>> = (
  ...args: Args
) => Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError>

/** A statement whose rows `decode` reads. Storage failures are defects. */
const decoding =
  <A>(decode: (rows: ReadonlyArray<unknown>) => Effect.Effect<A, StorageError>) =>
  <Args extends ReadonlyArray<unknown>>(statement: Statement<Args>) =>
  (...args: Args): Effect.Effect<A> => dieOnSql(Effect.flatMap(Effect.suspend(() => statement(...args)), decode))

/** `many(Row)((id: string) => sql`…`)`: every row, as the schema decodes it. */
export const many = <A, I>(row: Schema.Schema<A, I>) => decoding(decodePassing(Schema.Array(row)))

/** The first row, if there is one. */
export const maybe = <A, I>(row: Schema.Schema<A, I>) => {
  const decode = decodePassing(row)
  return decoding((rows) => rows.length > 0 ? Effect.asSome(decode(rows[0])) : Effect.succeedNone)
}

/** The row that the statement must return. */
export const one = <A, I>(row: Schema.Schema<A, I>) => {
  const decode = decodePassing(row)
  return decoding((rows) => rows.length > 0 ? decode(rows[0]) : Effect.fail(new Cause.NoSuchElementException()))
}

/** The row of `SELECT count(*)::int AS count`, for `one`. */
export const Count = Schema.Struct({ count: Schema.Int }).pipe(Schema.pluck("count"))

/** Runs a statement and ignores its rows. */
export const run = <A, E, R>(effect: Effect.Effect<A, E, R>) => dieOnSql(Effect.asVoid(effect))

/** Whether the statement returns a row. */
export const anyRow = <E, R>(statement: Effect.Effect<ReadonlyArray<unknown>, E, R>) =>
  dieOnSql(Effect.map(statement, (rows) => rows.length > 0))

/** Runs the work in one transaction, or as a part of the caller's. */
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

/** Turns a violation of the named unique constraint into a domain error. */
export const onUnique = onViolation(uniqueViolation)

/** The same for a foreign key: the parent row was deleted since it was read. */
export const onForeignKey = onViolation(foreignKeyViolation)

const isSqlError = (error: unknown): error is SqlError.SqlError => Predicate.isTagged(error, "SqlError")

/**
 * For background work: a statement may take ten minutes, where those of a request are cancelled after fifteen seconds
 * (sql/statement-limit.ts). It is one transaction.
 */
export const withLongTimeout = (sql: SqlClient.SqlClient) => <A, E, R>(work: Effect.Effect<A, E, R>) =>
  transactionally(sql)(Effect.zipRight(sql`SET LOCAL statement_timeout = 600000`, work))
