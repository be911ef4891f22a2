import { CurrentSettings } from "#src/config/Settings.ts"
import { Array, Cause, Context, Effect, HashMap, Inspectable, Layer, Logger, LogLevel } from "effect"
import { outageIn } from "./outage.ts"
import { withoutControls } from "./outside-text.ts"
import { redact } from "./redact.ts"

/** A human-readable line: time, level unless info, the message, annotations, then causes. */
const readable = Logger.make<unknown, string>(({ annotations, cause, date, logLevel, message }) => {
  const words = Array.ensure(message).map((part) => Inspectable.toStringUnknown(part, 0))
  const notes = [...HashMap.toEntries(annotations)].map(([key, value]) => `${key}=${String(value)}`)
  const level = logLevel === LogLevel.Info ? [] : [logLevel.label]
  const line = [date.toISOString().slice(11, 19), ...level, ...words, ...notes].join(" ")
  return Cause.isEmpty(cause) ? line : `${line}\n${Cause.pretty(cause, { renderErrorCause: true })}`
})

/** Logs a lost connection in one line: stack traces say nothing here, and it fails everywhere at once. */
const shortOutages = <Output>(lines: Logger.Logger<unknown, Output>) =>
  Logger.make<unknown, Output>((options) => {
    const outage = outageIn(options.cause)
    return lines.log(
      outage === undefined
        ? options
        : { ...options, cause: Cause.empty, message: [...Array.ensure(options.message), `(${outage})`] }
    )
  })

/** Whether lines are JSON, whatever the settings say. */
export class LogAsJson extends Context.Reference<LogAsJson>()("berth/LogAsJson", { defaultValue: () => false }) {}

/**
 * JSON lines in production, readable lines otherwise, on standard error; both without secrets and control characters.
 */
export const LoggingLive = Layer.unwrapEffect(
  Effect.map(Effect.all([CurrentSettings, LogAsJson]), ([{ logLevel, production }, asJson]) => {
    const lines = production || asJson ? Logger.jsonLogger : readable
    const logger = LogLevel.lessThanEqual(logLevel, LogLevel.Debug) ? lines : shortOutages(lines)
    return Layer.merge(
      Logger.replace(
        Logger.defaultLogger,
        Logger.withConsoleError(Logger.map(logger, (line) => withoutControls(redact(line))))
      ),
      Logger.minimumLogLevel(logLevel)
    )
  })
)
