import { isDiskFull } from "#src/shared/disk-full.ts"
import { CliFailure } from "./CliFailure.ts"
import { exitCodes } from "./exit-codes.ts"

/** The end of a command whose file can't be written; `otherwise` says why, where the disk is not full. */
export const unwritable = (file: string, cause: unknown, otherwise: string) =>
  new CliFailure({
    message: isDiskFull(cause) ? `The disk is full: ${file} can't be written. Make room and try again` : otherwise,
    code: exitCodes.badFile,
    cause
  })
