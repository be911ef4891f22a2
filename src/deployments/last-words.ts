import { type MachineLine, type Machines } from "#src/machines/Machines.ts"
import { Chunk, Effect, Stream } from "effect"
import { levelOf } from "./output-level.ts"

/** Errors rank above other lines on stderr, and those above stdout. Of equal rank, the newest line is best. */
const weight = (line: MachineLine) => levelOf(line) === "error" ? 2 : line.stream === "stderr" ? 1 : 0

/** Skips the lines of a stack trace: they say where, not what. */
const isInformative = (text: string) => text.trim() !== "" && !/^\s+at |^Node\.js v/.test(text)

/** runc logs in logfmt; this extracts its message without the prefix. */
const plain = (text: string) => {
  const [, quoted] = /\blevel=error msg=("(?:[^"\\]|\\.)*")/.exec(text) ?? []
  if (quoted === undefined) return text.trim()
  try {
    return String(JSON.parse(quoted)).replace(/^runc .*?unable to start container process: /, "")
  } catch {
    return text.trim()
  }
}

const best = (lines: Iterable<MachineLine>): string => {
  let top: MachineLine | undefined
  for (const line of lines) {
    if (isInformative(line.text) && (top === undefined || weight(line) >= weight(top))) top = line
  }
  return top === undefined || weight(top) === 0 ? "" : plain(top.text)
}

/** What an ended machine wrote and is kept; nothing where that can't be read. */
export const linesSoFar = (
  machines: typeof Machines.Service,
  machine: string
): Effect.Effect<ReadonlyArray<MachineLine>> =>
  machines.output(machine, 0).pipe(
    // All its output is there already, but the stream would wait for more.
    Stream.interruptAfter("500 millis"),
    Stream.runCollect,
    Effect.match({ onFailure: () => [], onSuccess: Chunk.toReadonlyArray })
  )

/** The line of output that best explains why a machine exited; empty when there is none. */
export const lastWords = (machines: typeof Machines.Service, machine: string): Effect.Effect<string> =>
  Effect.map(linesSoFar(machines, machine), best)
