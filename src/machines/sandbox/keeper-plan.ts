/** A keeper's settings, in a file whose path is its only argument. */
export interface KeeperPlan {
  /** The command that becomes the machine. */
  readonly argv: ReadonlyArray<string>
  /** Where it looks for programs; the rest of its environment is empty. */
  readonly path: string
  /** Files the command reads at descriptor 3, 4, …: settings that must not be seen in a process list. */
  readonly inputs: ReadonlyArray<string>
  /** How many levels below the command the machine's own process is, following first children. */
  readonly depth: number
  /** Whether that process is PID 1 of its namespace, where the kernel drops signals without a handler. */
  readonly isInit: boolean
  /** Number of this start; the exit record repeats it, to show which start it belongs to. */
  readonly run: number
  readonly socket: string
  readonly port: number
  /** The authorization server: a port of the machine's loopback, relayed to the socket. */
  readonly auth: { readonly port: number; readonly socket: string } | null
  /** Everything else outside; null for a trial. The platform decides what is let through its socket. */
  readonly egress: {
    readonly socket: string
    /** The authorization server's name, which is loopback here (or empty). */
    readonly authName: string
    /** The machine's own port: nobody else listens there. */
    readonly ownPort: number
    readonly proxyAddress: string
    readonly proxyPort: number
  } | null
  /** Directory of the machine's output and of its exit record. */
  readonly dir: string
  /** Resident bytes above which the keeper kills the machine; 0 where a cgroup enforces the limit. */
  readonly memoryBytes: number
}
