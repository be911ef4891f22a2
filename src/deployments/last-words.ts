import { type MachineLine, type Machines } from "#src/machines/Machines.ts"
import { Effect, Stream } from "effect"
import { levelOf } from "./output-level.ts"

/** Newer lines tell more, failures more than other lines on stderr, and those more than anything on stdout. */
const weight = (line: MachineLine) => levelOf(line) === "error" ? 2 : line.stream === "stderr" ? 1 : 0

/** A stack's lines say where, not what. */
const isTelling = (text: string) => text.trim() !== "" && !/^\s+at |^Node\.js v/.test(text)

/** What runc says comes in logfmt, led by what it was about. */
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
  let found: MachineLine | undefined
  for (const line of lines) {
    if (isTelling(line.text) && (found === undefined || weight(line) >= weight(found))) found = line
  }
  return found === undefined || weight(found) === 0 ? "" : plain(found.text)
}

/** Why a machine that has exited says it did: the line of its output that tells best; empty when none does. */
export const lastWords = (machines: typeof Machines.Service, machine: string): Effect.Effect<string> =>
  machines.output(machine, 0).pipe(
    // All that it wrote is there; what follows an output waits for more.
    Stream.interruptAfter("500 millis"),
    Stream.runCollect,
    Effect.map(best),
    Effect.catchAll(() => Effect.succeed(""))
  )
