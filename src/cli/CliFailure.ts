import { Data } from "effect"

/** What ends a command: a sentence for people, and an exit code for scripts (docs/cli.md). */
export class CliFailure extends Data.TaggedError("CliFailure")<{
  readonly message: string
  readonly code: number
  readonly cause?: unknown
}> {}

export const otherVersion = (url: string) => `${url} does not answer like a Berth installation of this version`
