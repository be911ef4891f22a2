import { type Console, Effect } from "effect"
import { format } from "node:util"

interface LineSink {
  readonly write: (line: string) => void
}

/**
 * Writes lines to a stream that may fail, because its disk is full or its reader has exited. Lines that can't be
 * written are dropped and counted; a note with that count precedes the next line that can be written.
 */
const lineSink = (stream: NodeJS.WritableStream): LineSink => {
  let dropped = 0
  let reason = ""
  // An "error" event without a listener would end the process.
  stream.on("error", () => undefined)
  const note = () => {
    const lines = dropped === 1 ? "One line" : `${dropped} lines`
    return `${lines} could not be written here and ${dropped === 1 ? "is" : "are"} lost (${reason})\n`
  }
  return {
    write: (line) => {
      const reported = dropped
      stream.write(`${reported > 0 ? `\n${note()}` : ""}${line}\n`, (error) => {
        if (error) {
          dropped++
          reason = "code" in error ? String(error.code) : error.message
        } else dropped -= reported
      })
    }
  }
}

/** A process console whose write errors can't end the process. Other consoles, such as a test's, stay as they are. */
export const unbreakable = (base: Console.Console): Console.Console => {
  if (base.unsafe !== globalThis.console) return base
  const out = lineSink(process.stdout)
  const err = lineSink(process.stderr)
  const to = (sink: LineSink) => (...values: ReadonlyArray<unknown>) => sink.write(format(...values))
  const unsafe = { ...base.unsafe, log: to(out), info: to(out), debug: to(out), warn: to(err), error: to(err) }
  return {
    ...base,
    unsafe,
    log: (...values) => Effect.sync(() => unsafe.log(...values)),
    error: (...values) => Effect.sync(() => unsafe.error(...values))
  }
}
