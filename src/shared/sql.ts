import { type SqlClient, type SqlError } from "@effect/sql"
import { type Cause, Effect, type ParseResult, Predicate } from "effect"

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
 * that a statement must return (`SqlSchema.single`) and did not.
 */
export const dieOnSql = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, Exclude<E, StorageError>, R> =>
  Effect.catchAll(effect, (error) =>
    Predicate.isTagged(error, "SqlError") || Predicate.isTagged(error, "ParseError") ||
      Predicate.isTagged(error, "NoSuchElementException")
      ? Effect.die(error)
      : Effect.fail(error as Exclude<E, StorageError>))

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
  sql.withTransaction(Effect.zipRight(sql`SET LOCAL statement_timeout = 600000`, work)).pipe(dieOnSql)
