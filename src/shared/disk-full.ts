import { Cause, Predicate } from "effect"

/** The system's codes, and PostgreSQL's (`disk_full`). */
const codes = new Set<unknown>(["ENOSPC", "EDQUOT", "53100"])

/** Whether an error means a full disk, by its code or that of a nested cause. */
export const isDiskFull = (error: unknown, depth = 0): boolean =>
  Predicate.isObject(error) && depth <= 8 && (
    Predicate.hasProperty(error, "code") && codes.has(error.code) ||
    Predicate.hasProperty(error, "cause") && isDiskFull(error.cause, depth + 1)
  )

/** The same for a failed effect's cause. */
export const failedOnFullDisk = (cause: Cause.Cause<unknown>) =>
  [...Cause.failures(cause), ...Cause.defects(cause)].some((error) => isDiskFull(error))

/** For callers, who can't solve it. */
export const diskFull = "The platform's disk is full; try again once its operator has made room"

/** Replaces a system message about a full disk by the one for callers; keeps any other message. */
export const orDiskFull = (message: string) =>
  /\b(ENOSPC|EDQUOT)\b|no space left on device/i.test(message) ? diskFull : message
