import { Data } from "effect"

/** What went wrong on the way to a `MachineError`, which adds operation and machine. */
export class SandboxError extends Data.TaggedError("SandboxError")<{ readonly message: string }> {}
