import { type MachineLine } from "#src/machines/Machines.ts"
import { type LogLevel } from "#src/servers/ServerLog.ts"

const named: Readonly<Record<string, LogLevel>> = {
  trace: "debug",
  debug: "debug",
  dbg: "debug",
  info: "info",
  inf: "info",
  notice: "info",
  warn: "warn",
  wrn: "warn",
  warning: "warn",
  err: "error",
  error: "error",
  severe: "error",
  fatal: "error",
  ftl: "error",
  crit: "error",
  critical: "error",
  panic: "error"
}
const names = Object.keys(named).sort((one, other) => other.length - one.length).join("|")
const levelNamed = (name: string | undefined) => named[(name ?? "").toLowerCase()]

/** Levels are at the start of a line, so a long line is not searched further. */
const headLength = 2_000
const colours = new RegExp("\\u001b\\[[\\d;]*m", "g")

/** Structured loggers (pino, bunyan, slog …) write the level as a name, or as a multiple of ten. */
const jsonLevel = (text: string): LogLevel | undefined => {
  if (!text.startsWith("{")) return undefined
  const [, name, number] = /"(?:level|severity)"\s*:\s*(?:"([A-Za-z]{1,10})"|(\d0)\b)/.exec(text) ?? []
  if (name !== undefined) return levelNamed(name)
  if (number === undefined) return undefined
  return Number(number) >= 50 ? "error" : Number(number) >= 40 ? "warn" : Number(number) >= 30 ? "info" : "debug"
}

/** Matches a quoted value as a whole, so that text within a message can't be taken for the line's level. */
const pair = /(?:^|\s)([\w.@/-]{1,50})=("(?:[^"\\]|\\.)*"|\S*)/g

/** logfmt (logrus, slog's text, Grafana's tools): a line of pairs that include `level`. */
const logfmtLevel = (text: string): LogLevel | undefined => {
  if (!/^[\w.@/-]{1,50}=/.test(text)) return undefined
  for (const [, key = "", value = ""] of text.matchAll(pair)) {
    if (/^(?:level|lvl|severity)$/i.test(key)) return levelNamed(value.replaceAll("\"", ""))
  }
  return undefined
}

const letters: Readonly<Record<string, LogLevel>> = { D: "debug", I: "info", W: "warn", E: "error", F: "error" }

/** klog and glog `E1122 06:55:35.000000 …`, Ruby's Logger `E, [2026-11-22T06:55:35 #1] …`. */
const letterLevel = (text: string) =>
  letters[/^([DIWEF])(?:\d{4}(?:\d{4})? \d\d:\d\d:\d\d\.|, \[\d{4}-)/.exec(text)?.[1] ?? ""]

/** A date, a time of day, or both, optionally in brackets, with the separator after it. */
const timestamp =
  /^\[?(?:\d{4}[-/]\d\d[-/]\d\d(?:[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)?|\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)(?:Z| ?[+-]\d\d:?\d\d)?\]?[\s:|-]*/

/**
 * A level in capitals needs nothing else; in other letters it needs brackets or a colon, because `error` and `Info` are
 * everyday words.
 */
const capitals = new RegExp(`^(${names.toUpperCase()})(?![^\\s:|\\])>,])`)
const marked = new RegExp(`^(?:\\[(${names})\\]|<(${names})>|\\((${names})\\)|(${names}):(?=\\s|$))`, "i")
/** The prefix `name - ` of Python's logging, and the thread name of Java's loggers. */
const origin = /^(?:[\w.]{1,100} - |\[[^\]]{1,100}\] )/

const wordLevel = (text: string): LogLevel | undefined => {
  const match = capitals.exec(text) ?? marked.exec(text)
  return levelNamed(match?.slice(1).find((name) => name !== undefined))
}

const plainLevel = (text: string): LogLevel | undefined => {
  const rest = text.replace(timestamp, "")
  const own = logfmtLevel(rest) ?? letterLevel(text) ?? wordLevel(rest)
  // Only a line that begins with a time comes from a logger, and may have its origin before the level.
  return own ?? (rest === text ? undefined : wordLevel(rest.replace(origin, "")))
}

const alarming = /\b(?:error|exception|fatal|panic|traceback|uncaught|unhandled)\b|Error:/i

/**
 * The level that a line states. Else stdout is `info`; programs write both notices and failures to stderr, so it is
 * `error` when the text looks like one, and `warn` otherwise.
 */
export const levelOf = ({ stream, text }: Pick<MachineLine, "stream" | "text">): LogLevel => {
  const head = text.slice(0, headLength).replace(colours, "").trimStart()
  return jsonLevel(head) ?? plainLevel(head) ??
    (stream === "stdout" ? "info" : alarming.test(text) ? "error" : "warn")
}
