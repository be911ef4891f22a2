import { type Programs } from "#src/format/package-programs.ts"

/** How the program of the package is run: the image's own file says what there is, the arguments which of it. */
export interface Options {
  /** What is executed: the interpreter and the program's file, then the caller's arguments. */
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly transport: "stdio" | "http"
  readonly processes: "session" | "shared"
  /** Processes at once; each session has one. */
  readonly sessions: number
  /** Milliseconds after which a session without a request or an open stream ends. */
  readonly idle: number
}

const flags = ["command", "transport", "processes", "sessions", "idle"] as const

/** `--flag=value …  -- arguments of the program`. */
export const readOptions = (argv: ReadonlyArray<string>, { main, programs }: Programs): Options => {
  const end = argv.indexOf("--")
  const given = new Map(
    argv.slice(0, end < 0 ? argv.length : end).map((flag) => {
      const [, name = "", value = ""] = /^--(\w+)=(.*)$/s.exec(flag) ?? []
      if (!flags.some((known) => known === name)) throw new Error(`Unknown argument ${flag}`)
      return [name, value] as const
    })
  )
  const name = given.get("command") ?? main ?? ""
  const found = Object.hasOwn(programs, name) ? programs[name] : undefined
  const [program, ...args] = found ?? []
  if (program === undefined) {
    throw new Error(`The package has no program "${name}": ${Object.keys(programs).join(", ")}`)
  }
  return {
    program,
    args: [...args, ...end < 0 ? [] : argv.slice(end + 1)],
    transport: given.get("transport") === "http" ? "http" : "stdio",
    processes: given.get("processes") === "shared" ? "shared" : "session",
    sessions: Number(given.get("sessions") ?? 8),
    idle: Number(given.get("idle") ?? 300) * 1000
  }
}
