import { type SqlError } from "@effect/sql"
import { Effect, type ParseResult, Predicate } from "effect"

/** Name of the constraint when a statement broke one of the kind (PostgreSQL error codes, class 23). */
const constraintOf = (code: string) => (error: SqlError.SqlError): string | undefined =>
  Predicate.hasProperty(error.cause, "code") && error.cause.code === code &&
    Predicate.hasProperty(error.cause, "constraint")
    ? String(error.cause.constraint)
    : undefined

export const uniqueViolation = constraintOf("23505")
export const foreignKeyViolation = constraintOf("23503")

/** Storage failures are nobody's domain: they end here, as defects, which the edges show as 500 or 503. */
export const dieOnSql = <A, E, R>(
  effect: Effect.Effect<A, E | SqlError.SqlError | ParseResult.ParseError, R>
): Effect.Effect<A, Exclude<E, SqlError.SqlError | ParseResult.ParseError>, R> =>
  Effect.catchIf(
    effect,
    (error): error is Extract<E | SqlError.SqlError | ParseResult.ParseError, SqlError.SqlError | ParseResult.ParseError> =>
      Predicate.isTagged(error, "SqlError") || Predicate.isTagged(error, "ParseError"),
    Effect.die
  ) as Effect.Effect<A, Exclude<E, SqlError.SqlError | ParseResult.ParseError>, R>

/** A unique violation of the named constraint becomes a failure of the domain. */
export const onUnique = <E2>(constraint: string, failure: () => E2) =>
<A, E, R>(
  effect: Effect.Effect<A, E | SqlError.SqlError, R>
): Effect.Effect<A, E | E2 | SqlError.SqlError, R> =>
  Effect.catchIf(
    effect,
    (error): error is Extract<E | SqlError.SqlError, SqlError.SqlError> =>
      Predicate.isTagged(error, "SqlError") && uniqueViolation(error as unknown as SqlError.SqlError) === constraint,
    () => Effect.fail(failure())
  ) as Effect.Effect<A, E | E2 | SqlError.SqlError, R>
