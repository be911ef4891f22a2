import { Data, Predicate } from "effect"

/** The database can't be used. The message is one sentence for the operator and never holds the password. */
export class DatabaseError extends Data.TaggedError("DatabaseError")<{
  readonly message: string
  readonly cause?: unknown
}> {}

const text = (value: unknown): string => {
  if (value instanceof AggregateError) return [...new Set(value.errors.map(text))].join(", ")
  return value instanceof Error && value.message !== "" ? value.message : String(value)
}

/** The innermost cause: wrappers such as `SqlError` only say that something failed. */
const root = (error: unknown): unknown =>
  Predicate.hasProperty(error, "cause") && error.cause !== undefined ? root(error.cause) : error

/** SQLSTATE or system error code (`ECONNREFUSED`) of a failure, at any depth of causes. */
export const codeOf = (error: unknown): string | undefined => {
  const inner = root(error)
  return Predicate.hasProperty(inner, "code") && typeof inner.code === "string" ? inner.code : undefined
}

export const reasonOf = (error: unknown): string => text(root(error)).split("\n")[0]!.replace(/\.$/, "")
