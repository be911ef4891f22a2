import { Context, Data, Effect, Layer, type Scope, type Stream } from "effect"
import { type Server } from "node:net"

/** How a process inside an image is started: the part of the OCI image config that a driver needs. */
export interface ImageConfig {
  readonly entrypoint: ReadonlyArray<string>
  readonly cmd: ReadonlyArray<string>
  /** `NAME=value` entries. */
  readonly env: ReadonlyArray<string>
  readonly workingDir: string
  /** `uid[:gid]` or a name of the image's /etc/passwd; empty is root (of the machine's own user namespace). */
  readonly user: string
}

/** A file that the platform puts into a machine, read-only, at `fileInMachine(name)`. */
export interface MachineFile {
  /** A plain file name: lower-case letters, digits, `.`, `_`, `-`. */
  readonly name: string
  /** UTF-8; all files of a machine together hold at most 8 MiB. */
  readonly content: string
}

/**
 * Where a machine's files lie inside. A directory of its own at the top: anything below an image's directories could
 * be a link there, or be missing where the image is mounted read-only.
 */
export const fileInMachine = (name: string) => `/.berth-files/${name}`

export interface MachineSpec {
  /** Unique and stable: a machine is named after its deployment, so a retry finds the one it made before. */
  readonly name: string
  /** The server the machine serves. */
  readonly owner: string
  /**
   * Absolute path of the unpacked image. Shared and never written to: the machine sees it read-only or through a
   * copy-on-write layer.
   */
  readonly rootfs: string
  readonly config: ImageConfig
  /** Set over the image's own environment. Nothing of the platform's environment is inherited. */
  readonly env: Readonly<Record<string, string>>
  /** For values that are too long for a variable (the kernel allows 128 KiB each). */
  readonly files?: ReadonlyArray<MachineFile>
  /** The port that the process inside listens on (its `PORT`). */
  readonly port: number
  readonly cpu: "shared-1x" | "shared-2x" | "performance-1x"
  readonly memoryMb: number
}

/** Where the gateway and the health check reach the machine's port. */
export type MachineAddress =
  | { readonly _tag: "Unix"; readonly path: string }
  | { readonly _tag: "Tcp"; readonly host: string; readonly port: number }

export interface MachineState {
  readonly name: string
  readonly owner: string
  readonly status: "created" | "running" | "exited"
  readonly address: MachineAddress
  /** Set when `exited`; null when nobody recorded it (the host crashed, or the keeper was killed too). */
  readonly exitCode: number | null
}

/** The last run of a machine, by the host's clock in Unix milliseconds. */
export interface MachineRun {
  readonly name: string
  readonly owner: string
  readonly startedAt: number
  /** Undefined while it runs; null when it has ended and nobody recorded when (the host crashed, say). */
  readonly endedAt: number | null | undefined
}

export interface MachineLine {
  /** Position after this line in the machine's output; pass it to `output` to continue from there. */
  readonly offset: number
  readonly stream: "stdout" | "stderr"
  readonly text: string
  /** It was cut for its length: the stream's next line goes on where it ends. */
  readonly isCut?: true
}

/** A driver operation failed; the message, for the server's log, says what failed and why. */
export class MachineError extends Data.TaggedError("MachineError")<{
  readonly operation: string
  readonly machine: string
  readonly message: string
}> {}

interface Inspection {
  readonly inspect: (name: string) => Effect.Effect<MachineState | undefined, MachineError>
}

/** Where machines are: for every process of their host. Only the one that holds the host's lease has `Machines`. */
export class MachineStates extends Context.Tag("machines/MachineStates")<MachineStates, Inspection>() {}

/**
 * Isolated processes, whatever runs them. Every operation is idempotent: after a crash in the middle of one, the caller
 * repeats it.
 */
export class Machines extends Context.Tag("machines/Machines")<
  Machines,
  Inspection & {
    /** What runs machines here, for the log and `/v1/health`. */
    readonly driver: { readonly name: string; readonly tier: string }
    /** The guarantees that it enforces on this host, and those that it could enforce on others only. */
    readonly guarantees: Effect.Effect<{
      readonly enforces: ReadonlyArray<string>
      readonly lacks: ReadonlyArray<string>
    }>
    /**
     * While the scope is open, each machine's requests to `AUTH_URL` go to a server of its own, made by `makeServer`.
     * With an https `AUTH_URL` they go to the proxy that holds its certificate instead.
     */
    readonly serveAuth: (makeServer: (machine: string) => Server) => Effect.Effect<void, never, Scope.Scope>
    /**
     * While the scope is open, all else that machines send outside goes to servers made by `makeServer`, one a machine.
     * A connection begins with a line: `lookup NAME`, `connect NAME PORT` or `proxy` (docs/decisions/egress.md).
     */
    readonly serveEgress: (makeServer: (machine: string) => Server) => Effect.Effect<void, never, Scope.Scope>
    /** Prepares the machine without starting it. One that exists under the name is adopted. */
    readonly provision: (spec: MachineSpec) => Effect.Effect<MachineState, MachineError>
    /** Starts a provisioned or exited machine; a running one is left as it is. */
    readonly start: (name: string) => Effect.Effect<MachineState, MachineError>
    /** SIGTERM, `graceSeconds` (default 10) of patience, SIGKILL to everything inside. Unknown names are fine. */
    readonly stop: (name: string, graceSeconds?: number) => Effect.Effect<void, MachineError>
    /** Stops at once and removes every trace. Unknown names are fine. */
    readonly destroy: (name: string) => Effect.Effect<void, MachineError>
    /** The TCP ports that are listened on inside, without the platform's own; none when it doesn't run. */
    readonly listening: (name: string) => Effect.Effect<ReadonlyArray<number>, MachineError>
    readonly list: (owner?: string) => Effect.Effect<ReadonlyArray<MachineState>, MachineError>
    /** Of all machines that were ever started, or of that one. */
    readonly runs: (name?: string) => Effect.Effect<ReadonlyArray<MachineRun>, MachineError>
    /**
     * How many connections to the machine's address are open, from whatever process; undefined where that can't be told.
     * An idle one, kept for the next request, counts.
     */
    readonly connections: (name: string) => Effect.Effect<number | undefined>
    /** The machine's output from `offset` on, following it until the machine is destroyed. */
    readonly output: (name: string, offset: number) => Stream.Stream<MachineLine, MachineError>
  }
>() {}

/** Those of the driver itself. */
export const MachineStatesLive = Layer.effect(MachineStates, Effect.map(Machines, ({ inspect }) => ({ inspect })))
