import { spawn } from "node:child_process"
import { constants } from "node:os"
import { isMessage, type Message } from "./message.ts"
import { type Options } from "./options.ts"

export interface ChildEvents {
  readonly onMessage: (message: Message) => void
  /** Once; `reason` says how it ended. */
  readonly onEnd: (reason: string) => void
}

/** Bytes of one message: a picture in base64, or a long document. */
const longest = 64 * 1024 * 1024
const patience = 3_000

/** How a process ended, as a shell tells it: a signal is 128 and its number. */
export const exitCodeOf = (code: number | null, signal: NodeJS.Signals | null) =>
  code ?? 128 + (signal === null ? 0 : constants.signals[signal])

const endOf = (code: number | null, signal: NodeJS.Signals | null) =>
  code !== null
    ? `exited with code ${code}`
    : `was ended by ${signal}${signal === "SIGKILL" ? ", as when it takes more memory than the machine has" : ""}`

/** Splits a stream of bytes at newlines (MCP, stdio), in time that grows with the bytes. */
export const lineSplitter = (onLine: (line: string) => void, onTooLong: () => void) => {
  let parts: Array<Buffer> = []
  let size = 0
  return (chunk: Buffer) => {
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      parts.push(chunk.subarray(from, at))
      const line = parts.length === 1 ? parts[0]!.toString() : Buffer.concat(parts).toString()
      parts = []
      size = 0
      from = at + 1
      if (line.trim() !== "") onLine(line)
    }
    if (from === chunk.length) return
    parts.push(chunk.subarray(from))
    size += chunk.length - from
    if (size > longest) onTooLong()
  }
}

const parse = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** Before a message on the same line: words that a program printed without a newline, such as a progress bar. */
const longestWords = 4_096

/** The line with the words before its message, if it has such, cut off. */
const messageIn = (line: string) => {
  const whole = parse(line)
  if (whole !== undefined) return { parsed: whole, words: "" }
  const at = line.slice(0, longestWords).search(/[{[]\s*\{?\s*"(?:jsonrpc|id|method|result|error|params)"\s*:/)
  const parsed = at <= 0 ? undefined : parse(line.slice(at))
  return { parsed, words: parsed === undefined ? "" : line.slice(0, at) }
}

const log = (words: string) => process.stderr.write(`${words.slice(0, 2_000)}\n`)

/** A process of the package that speaks JSON-RPC over its standard input and output. */
export class Child {
  readonly #process
  #events: ChildEvents | undefined
  #early: Array<Message> = []
  #ended: string | undefined
  #exitCode: number | undefined
  #isStopping = false

  constructor({ args, program }: Pick<Options, "args" | "program">) {
    this.#process = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] })
    const { stdin, stdout } = this.#process
    stdout.on("data", lineSplitter((line) => this.#read(line), () => this.#fail("sent a message of more than 64 MiB")))
    // A process that has ended closes its input first; its end is told by "close".
    stdin.on("error", () => {})
    this.#process.on("error", (error) => this.#end(`could not be started: ${error.message}`))
    this.#process.on("close", (code, signal) => {
      this.#exitCode = exitCodeOf(code, signal)
      this.#end(endOf(code, signal))
    })
  }

  get ended() {
    return this.#ended
  }

  /** Once its process has ended. */
  get exitCode() {
    return this.#exitCode
  }

  get isStopping() {
    return this.#isStopping
  }

  #read(line: string) {
    const { parsed, words } = messageIn(line)
    if (words !== "") log(words)
    const messages: ReadonlyArray<unknown> = Array.isArray(parsed) ? parsed : [parsed]
    for (const message of messages) {
      // Programs print greetings there too: they belong into the log.
      if (!isMessage(message)) log(line)
      else if (this.#events === undefined) this.#early.push(message)
      else this.#events.onMessage(message)
    }
  }

  #fail(reason: string) {
    this.#process.kill("SIGKILL")
    this.#end(reason)
  }

  #end(reason: string) {
    if (this.#ended !== undefined) return
    this.#ended = reason
    this.#events?.onEnd(reason)
  }

  /** Whoever listens now: a spare process gets its session later. */
  listen(events: ChildEvents) {
    this.#events = events
    for (const message of this.#early.splice(0)) events.onMessage(message)
    if (this.#ended !== undefined) events.onEnd(this.#ended)
  }

  /** What it says from now on waits for the next listener. */
  unlisten() {
    this.#events = undefined
  }

  send(message: Message) {
    if (this.#ended === undefined) this.#process.stdin.write(`${JSON.stringify(message)}\n`)
  }

  /** Ends as MCP says for stdio: its input closes, then SIGTERM, then SIGKILL. */
  async stop() {
    if (this.#ended !== undefined) return
    this.#isStopping = true
    const closed = new Promise<void>((resolve) => this.#process.once("close", () => resolve()))
    this.#process.stdin.end()
    const timers = [
      setTimeout(() => this.#process.kill("SIGTERM"), patience / 3),
      setTimeout(() => this.#process.kill("SIGKILL"), patience)
    ]
    await closed
    for (const timer of timers) clearTimeout(timer)
  }
}
