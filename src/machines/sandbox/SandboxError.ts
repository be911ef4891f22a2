import { Data } from "effect"

/** Becomes a `MachineError`, which adds operation and machine. */
export class SandboxError extends Data.TaggedError("SandboxError")<{ readonly message: string }> {}
