import { type MachineLine } from "#src/machines/Machines.ts"
import { type LogLevel } from "#src/servers/ServerLog.ts"

const named: Readonly<Record<string, LogLevel>> = {
  trace: "debug",
  debug: "debug",
  info: "info",
  notice: "info",
  warn: "warn",
  warning: "warn",
  error: "error",
  fatal: "error",
  critical: "error",
  panic: "error"
}

/** Structured loggers (pino, bunyan, slog …) name the level, or number it in tens. */
const levelField = (text: string): LogLevel | undefined => {
  if (!text.startsWith("{")) return undefined
  const [, name, number] = /"(?:level|severity)"\s*:\s*(?:"([A-Za-z]{1,10})"|(\d0)\b)/.exec(text.slice(0, 2000)) ?? []
  if (name !== undefined) return named[name.toLowerCase()]
  if (number === undefined) return undefined
  return Number(number) >= 50 ? "error" : Number(number) >= 40 ? "warn" : Number(number) >= 30 ? "info" : "debug"
}

const alarming = /\b(?:error|exception|fatal|panic|traceback|uncaught|unhandled)\b|Error:/i

/**
 * A line's own level when it has one. Else stdout is `info`; stderr is where programs put notices and failures alike,
 * so it is `error` when it reads like one, and `warn` otherwise.
 */
export const levelOf = ({ stream, text }: Pick<MachineLine, "stream" | "text">): LogLevel =>
  levelField(text) ?? (stream === "stdout" ? "info" : alarming.test(text) ? "error" : "warn")
