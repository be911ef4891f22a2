import { Cause, Effect, Predicate } from "effect"
import { diskFull, isDiskFull } from "./disk-full.ts"
import { codeOf, type Failure } from "./Failure.ts"

/** What keeps the platform from its work, and nobody who asks can mend: the answer is 503. */
type Trouble = "away" | "slow" | "disk" | "files"

const said: Readonly<Record<Trouble, { readonly message: string; readonly retryAfter: number }>> = {
  away: { message: "The database can't be reached; try again shortly", retryAfter: 5 },
  slow: { message: "The database did not answer in time; try again shortly", retryAfter: 5 },
  disk: { message: diskFull, retryAfter: 60 },
  files: { message: "The platform has as many files and connections open as it may; try again shortly", retryAfter: 5 }
}

const textAt = (error: unknown, name: "code" | "message") =>
  Predicate.hasProperty(error, name) ? String(error[name]) : ""

/** Of a statement that failed: PostgreSQL can't be reached or is going down (class 08, 57P0x), or no connection came free. */
const ofStatement = (cause: unknown): Trouble | undefined => {
  const code = textAt(cause, "code")
  const message = textAt(cause, "message")
  if (code === "57014" || /^timeout: /.test(message)) return "slow"
  return /^(08|57P0|53300|ECONN|ENOTFOUND|EPIPE|ENOENT|ETIMEDOUT)/.test(code) ||
      /timeout|terminated|ended|not queryable|ECONN/i.test(message)
    ? "away"
    : undefined
}

const troubleOf = (error: unknown): Trouble | undefined => {
  if (isDiskFull(error)) return "disk"
  const isStatement = Predicate.isTagged(error, "SqlError") && Predicate.hasProperty(error, "cause")
  if (/^(EMFILE|ENFILE)$/.test(textAt(isStatement ? error.cause : error, "code"))) return "files"
  return isStatement ? ofStatement(error.cause) : undefined
}

/** The SqlError at the bottom of what wraps it. */
const sqlErrorOf = (error: unknown, depth = 0): unknown =>
  Predicate.isTagged(error, "SqlError") || depth > 8 || !Predicate.hasProperty(error, "cause")
    ? error
    : sqlErrorOf(error.cause, depth + 1)

/** A cause that is nothing but the database being away, in a few words; undefined for any other. */
export const outageIn = (cause: Cause.Cause<unknown>): string | undefined => {
  const errors = [...Cause.failures(cause), ...Cause.defects(cause)].map((error) => sqlErrorOf(error))
  const [first] = errors
  if (first === undefined || !errors.every((error) => troubleOf(error) === "away")) return undefined
  const { cause: reason } = first as { readonly cause: unknown }
  const message = textAt(reason, "message")
  return `the database can't be reached: ${message === "" ? textAt(reason, "code") : message}`
}

/** What PostgreSQL says of what it will never take: data, constraints, statements (SQLSTATE classes 22, 23 and 42). */
const isRefusal = (error: unknown) => {
  const { cause } = sqlErrorOf(error) as { readonly cause?: unknown }
  return /^(22|23|42)...$/.test(textAt(cause, "code"))
}

/** A cause that trying again does not mend: the database refused what it was given. */
export const isRefused = (cause: Cause.Cause<unknown>) =>
  [...Cause.failures(cause), ...Cause.defects(cause)].some((error) => Predicate.isObject(error) && isRefusal(error))

/** What both doors say of it; undefined when the error is another. */
export const describeOutage = (error: unknown): Failure | undefined => {
  const trouble = troubleOf(error)
  return trouble === undefined ? undefined : { status: 503, code: codeOf(503), ...said[trouble] }
}

const toldAt = new Map<Trouble, number>()

/** What the operator must mend is told in the log, once a minute: every request meets it. An outage shows in others. */
export const reportOutage = (error: unknown) =>
  Effect.suspend(() => {
    const trouble = troubleOf(error)
    if (trouble !== "disk" && trouble !== "files") return Effect.void
    const now = performance.now()
    if (now - (toldAt.get(trouble) ?? -Infinity) < 60_000) return Effect.void
    toldAt.set(trouble, now)
    return Effect.logError(
      trouble === "disk"
        ? "Requests fail with 503: a disk is full, that of BERTH_HOME or the database's; make room there"
        : "Requests fail with 503: too many files are open; raise the limit (ulimit -n, LimitNOFILE)"
    )
  })
