import { type PlatformError } from "@effect/platform/Error"

/** A file that can't be read, in a sentence: the library's own names its functions. */
export const unreadable = (path: string, error: PlatformError) =>
  error._tag === "SystemError" && error.reason === "NotFound"
    ? `There is no file ${path}`
    : error._tag === "SystemError" && error.reason === "PermissionDenied"
    ? `${path} can't be read: you may not`
    : `${path} can't be read: ${error.message}`
