import { Cause, Effect, Predicate } from "effect"
import { diskFull, isDiskFull } from "./disk-full.ts"
import { codeOf, type Failure } from "./Failure.ts"

/** Failures of the platform itself, which a caller can't solve: they are answered with 503. */
type Trouble = "away" | "slow" | "disk" | "files"

const responses: Readonly<Record<Trouble, { readonly message: string; readonly retryAfter: number }>> = {
  away: { message: "The database can't be reached; try again shortly", retryAfter: 5 },
  slow: { message: "The database did not answer in time; try again shortly", retryAfter: 5 },
  disk: { message: diskFull, retryAfter: 60 },
  files: { message: "The platform has as many files and connections open as it may; try again shortly", retryAfter: 5 }
}

const textAt = (error: unknown, name: "code" | "message") =>
  Predicate.hasProperty(error, name) ? String(error[name]) : ""

/** For a failed statement: PostgreSQL is unreachable or shutting down (class 08, 57P0x), or no connection was free. */
const statementTrouble = (cause: unknown): Trouble | undefined => {
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
  return isStatement ? statementTrouble(error.cause) : undefined
}

/** The innermost SqlError of a chain of causes. */
const sqlErrorOf = (error: unknown, depth = 0): unknown =>
  Predicate.isTagged(error, "SqlError") || depth > 8 || !Predicate.hasProperty(error, "cause")
    ? error
    : sqlErrorOf(error.cause, depth + 1)

const errorsOf = (cause: Cause.Cause<unknown>) =>
  [...Cause.failures(cause), ...Cause.defects(cause)].map((error) => sqlErrorOf(error))

/** A short text for a cause that consists only of an unreachable database or a full disk; undefined for any other. */
export const outageIn = (cause: Cause.Cause<unknown>): string | undefined => {
  const errors = errorsOf(cause)
  const [first] = errors
  const troubles = new Set(errors.map(troubleOf))
  if (first === undefined || ![...troubles].every((trouble) => trouble === "away" || trouble === "disk")) {
    return undefined
  }
  // A database whose disk is full loses its connections too: of the two the disk is the cause.
  const told = troubles.has("disk") ? errors.find((error) => troubleOf(error) === "disk") : first
  const isStatement = Predicate.isTagged(told, "SqlError")
  const reason = isStatement && Predicate.hasProperty(told, "cause") ? told.cause : told
  const message = textAt(reason, "message").split("\n")[0]
  const what = !troubles.has("disk")
    ? "the database can't be reached"
    : isStatement
    ? "the database's disk is full"
    : "the disk is full"
  return `${what}: ${message === "" ? textAt(reason, "code") : message}`
}

/** Permanent errors of PostgreSQL: data, constraints, statements (SQLSTATE classes 22, 23 and 42). */
const isRefusal = (error: unknown) => {
  const { cause } = sqlErrorOf(error) as { readonly cause?: unknown }
  return /^(22|23|42)...$/.test(textAt(cause, "code"))
}

/** Whether the database rejected the statement, so that a retry fails again. */
export const isRejected = (cause: Cause.Cause<unknown>) =>
  [...Cause.failures(cause), ...Cause.defects(cause)].some((error) => Predicate.isObject(error) && isRefusal(error))

/** The failure that HTTP and MCP report; undefined for any other error. */
export const describeOutage = (error: unknown): Failure | undefined => {
  const trouble = troubleOf(error)
  return trouble === undefined ? undefined : { status: 503, code: codeOf(503), ...responses[trouble] }
}

const loggedAt = new Map<Trouble, number>()

/** Logs what the operator must solve, at most once a minute, since everything fails of it. */
export const reportOutage = (error: unknown) =>
  Effect.suspend(() => {
    const trouble = troubleOf(error)
    if (trouble !== "disk" && trouble !== "files") return Effect.void
    const now = performance.now()
    if (now - (loggedAt.get(trouble) ?? -Infinity) < 60_000) return Effect.void
    loggedAt.set(trouble, now)
    return Effect.logError(
      trouble === "disk"
        ? "Requests fail with 503: a disk is full, that of BERTH_HOME or the database's; make room there. " +
          "Jobs and deployments fail too"
        : "Requests fail with 503: too many files are open; raise the limit (ulimit -n, LimitNOFILE)"
    )
  })

/** The same for a failed effect's cause: jobs and deployments meet a full disk where nobody sends a request. */
export const reportOutageIn = (cause: Cause.Cause<unknown>) => Effect.forEach(errorsOf(cause), reportOutage)
