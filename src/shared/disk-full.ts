import { Cause, Predicate } from "effect"

/** The system's codes, and PostgreSQL's (disk_full). */
const codes = new Set<unknown>(["ENOSPC", "EDQUOT", "53100"])

/** Whether there was no room to write, by the code of what was thrown, at whatever depth. */
export const isDiskFull = (error: unknown, depth = 0): boolean =>
  Predicate.isObject(error) && depth <= 8 && (
    Predicate.hasProperty(error, "code") && codes.has(error.code) ||
    Predicate.hasProperty(error, "cause") && isDiskFull(error.cause, depth + 1)
  )

/** The same of an effect that failed. */
export const failedOfFullDisk = (cause: Cause.Cause<unknown>) =>
  [...Cause.failures(cause), ...Cause.defects(cause)].some((error) => isDiskFull(error))

/** For whoever asked, who can't mend it. */
export const diskFull = "The platform's disk is full; try again once its operator has made room"

/** What a failure of the platform's own says, unless it only says in the system's words that the disk is full. */
export const orDiskFull = (message: string) =>
  /\b(ENOSPC|EDQUOT)\b|no space left on device/i.test(message) ? diskFull : message
