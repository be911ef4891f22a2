import { Data } from "effect"

/** Why a folder can't become an image, and what to do, for the one who owns it. */
export class FolderError extends Data.TaggedError("FolderError")<{ readonly message: string }> {}

export const folderError = (message: string) => new FolderError({ message })
