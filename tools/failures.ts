import { codeOf, describe, errorOf, type Failure } from "#src/shared/Failure.ts"
import { describeOutage, reportOutage } from "#src/shared/outage.ts"
import { type Cause, Effect } from "effect"

const unexpected: Failure = { status: 500, code: codeOf(500), message: "Something went wrong on our side" }

/** What a caller is told of a failure; one that nobody foresaw goes to the log, and is told in general words. */
export const failureOf = (cause: Cause.Cause<unknown>) => {
  const error = errorOf(cause)
  const expected = describeOutage(error) ?? describe(error)
  return expected === undefined
    ? Effect.as(Effect.logError("A tool failed unexpectedly", cause), unexpected)
    : Effect.as(reportOutage(error), expected)
}
