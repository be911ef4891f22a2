import { type Console, Effect } from "effect"
import { format } from "node:util"

interface LineSink {
  readonly write: (line: string) => void
}

/**
 * Lines to a stream that may break: its disk full, its reader gone. What can't be written is dropped and counted, and told
 * in front of the first line that can be.
 */
const lineSink = (stream: NodeJS.WritableStream): LineSink => {
  let dropped = 0
  let reason = ""
  // An "error" that nobody listens to would end the process.
  stream.on("error", () => undefined)
  const note = () => {
    const lines = dropped === 1 ? "One line" : `${dropped} lines`
    return `${lines} could not be written here and ${dropped === 1 ? "is" : "are"} lost (${reason})\n`
  }
  return {
    write: (line) => {
      const told = dropped
      stream.write(`${told > 0 ? `\n${note()}` : ""}${line}\n`, (error) => {
        if (error) {
          dropped++
          reason = "code" in error ? String(error.code) : error.message
        } else dropped -= told
      })
    }
  }
}

/** The console of this process so that what it prints can't end it; one that prints elsewhere (a test's) as it is. */
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
