import { CurrentSettings } from "#src/Config.ts"
import { Array, Cause, Effect, HashMap, Inspectable, Layer, Logger, LogLevel, Option } from "effect"
import { redact } from "./redact.ts"

/** A line for people: time, level when it is not the usual, the message, annotations, then causes. */
const readable = Logger.make<unknown, string>(({ annotations, cause, date, logLevel, message }) => {
  const words = Array.ensure(message).map((part) => Inspectable.toStringUnknown(part, 0))
  const notes = [...HashMap.toEntries(annotations)].map(([key, value]) => `${key}=${String(value)}`)
  const level = logLevel === LogLevel.Info ? [] : [logLevel.label]
  const line = [date.toISOString().slice(11, 19), ...level, ...words, ...notes].join(" ")
  return Cause.isEmpty(cause) ? line : `${line}\n${Cause.pretty(cause, { renderErrorCause: true })}`
})

/** JSON lines in production, readable lines otherwise, on standard error; secrets masked in both. */
export const LoggingLive = Layer.unwrapEffect(Effect.map(CurrentSettings, ({ logLevel, production }) => {
  const lines = production ? Logger.jsonLogger : readable
  const logger = Logger.withConsoleError(Logger.map(lines, redact))
  return Layer.merge(
    Logger.replace(Logger.defaultLogger, logger),
    Logger.minimumLogLevel(Option.getOrElse(logLevel, () => LogLevel.Info))
  )
}))
