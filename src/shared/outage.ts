import { Cause, Predicate } from "effect"
import { codeOf, type Failure } from "./Failure.ts"

/** PostgreSQL can't be reached or is going down (class 08, 57P0x), or no connection came free. */
const isConnectionLoss = (cause: unknown) => {
  const code = Predicate.hasProperty(cause, "code") ? String(cause.code) : ""
  return /^(08|57P0|53300|ECONN|ENOTFOUND|EPIPE|ENOENT|ETIMEDOUT)/.test(code) ||
    /timeout|terminated|ended|not queryable|ECONN/i.test(
      Predicate.hasProperty(cause, "message") ? String(cause.message) : ""
    )
}

const isOutage = (error: unknown) =>
  Predicate.isTagged(error, "SqlError") && Predicate.hasProperty(error, "cause") && isConnectionLoss(error.cause)

/** The SqlError at the bottom of what wraps it. */
const sqlErrorOf = (error: unknown, depth = 0): unknown =>
  Predicate.isTagged(error, "SqlError") || depth > 8 || !Predicate.hasProperty(error, "cause")
    ? error
    : sqlErrorOf(error.cause, depth + 1)

/** A cause that is nothing but the database being away, in a few words; undefined for any other. */
export const outageIn = (cause: Cause.Cause<unknown>): string | undefined => {
  const errors = [...Cause.failures(cause), ...Cause.defects(cause)].map((error) => sqlErrorOf(error))
  const [first] = errors
  if (first === undefined || !errors.every(isOutage)) return undefined
  const { cause: reason } = first as { readonly cause: unknown }
  const said = Predicate.hasProperty(reason, "message") ? String(reason.message) : ""
  const code = Predicate.hasProperty(reason, "code") ? String(reason.code) : ""
  return `the database can't be reached: ${said === "" ? code : said}`
}

/** What PostgreSQL says of what it will never take: data, constraints, statements (SQLSTATE classes 22, 23 and 42). */
const isRefusal = (error: unknown) => {
  const { cause } = sqlErrorOf(error) as { readonly cause?: unknown }
  return Predicate.hasProperty(cause, "code") && /^(22|23|42)...$/.test(String(cause.code))
}

/** A cause that trying again does not mend: the database refused what it was given. */
export const isRefused = (cause: Cause.Cause<unknown>) =>
  [...Cause.failures(cause), ...Cause.defects(cause)].some((error) => Predicate.isObject(error) && isRefusal(error))

/** What both doors say while the database is away; undefined when the error is another. */
export const describeOutage = (error: unknown): Failure | undefined =>
  isOutage(error)
    ? { status: 503, code: codeOf(503), message: "The database can't be reached; try again shortly", retryAfter: 5 }
    : undefined
