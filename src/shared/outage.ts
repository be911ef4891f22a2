import { Predicate } from "effect"
import { codeOf, type Failure } from "./Failure.ts"

/** PostgreSQL can't be reached or is going down (class 08, 57P0x), or no connection came free. */
const isOutage = (error: unknown) => {
  if (!Predicate.isTagged(error, "SqlError") || !Predicate.hasProperty(error, "cause")) return false
  const { cause } = error
  const code = Predicate.hasProperty(cause, "code") ? String(cause.code) : ""
  return /^(08|57P0|53300|ECONN|ENOTFOUND|EPIPE|ENOENT|ETIMEDOUT)/.test(code) ||
    /timeout|terminated|ended|not queryable|ECONN/i.test(
      Predicate.hasProperty(cause, "message") ? String(cause.message) : ""
    )
}

/** What both doors say while the database is away; undefined when the error is another. */
export const describeOutage = (error: unknown): Failure | undefined =>
  isOutage(error)
    ? { status: 503, code: codeOf(503), message: "The database can't be reached; try again shortly", retryAfter: 5 }
    : undefined
