import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { Child } from "./Child.ts"
import { type Options } from "./options.ts"
import { Session } from "./Session.ts"
import { SharedProcess } from "./SharedProcess.ts"

/**
 * Milliseconds after which a session without a request and a stream makes room for a new one. Most clients go without a
 * word, and those that stay keep a stream open; to one that comes back after all 404 says to begin anew.
 */
const quiet = 1_000
/** A process that says nothing for so long, but lives, counts as started. */
const patience = 3_000

/** The program ended before its first word; the code is its own, where it was started at all. */
export class EndedEarly extends Error {
  readonly exitCode: number | undefined
  constructor(reason: string, exitCode: number | undefined) {
    super(`The program ${reason} before it answered`)
    this.exitCode = exitCode
  }
}

/** For the server's log: only its client would hear of it, if one asks. */
const tell = (child: Child, reason: string) => {
  if (!child.isStopping && child.exitCode !== 0) process.stderr.write(`A process of the package ${reason}\n`)
}

/** Sessions and the processes that answer them: one each, or one for all. */
export class Sessions {
  readonly #options: Options
  readonly #sessions = new Map<string, Session>()
  readonly #children = new Set<Child>()
  #spare: Child | undefined
  #shared: SharedProcess | undefined
  /** Answers requests without a session, as revisions since 2026-07-28 make them. */
  #stateless: SharedProcess | undefined

  constructor(options: Options) {
    this.#options = options
    setInterval(() => this.#endIdle(), Math.min(options.idle, 10_000)).unref()
  }

  #start() {
    const child = new Child(this.#options)
    this.#children.add(child)
    return child
  }

  /** The process that was started to see whether it starts, else a new one. */
  #take() {
    const spare = this.#spare
    this.#spare = undefined
    return spare !== undefined && spare.ended === undefined ? spare : this.#start()
  }

  /** Starts a process and waits for its first word; rejects when it ends instead. The first session gets it. */
  warm() {
    const child = this.#start()
    return new Promise<void>((resolve, reject) => {
      const done = () => {
        clearTimeout(timer)
        child.unlisten()
        this.#spare = child
        resolve()
      }
      const timer = setTimeout(done, patience)
      child.listen({
        onMessage: done,
        onEnd: (reason) => {
          clearTimeout(timer)
          this.#children.delete(child)
          reject(new EndedEarly(reason, child.exitCode))
        }
      })
      // A ping may come before the handshake (MCP, Lifecycle).
      child.send({ jsonrpc: "2.0", id: "berth-started", method: "ping" })
    })
  }

  get(id: string) {
    return this.#sessions.get(id)
  }

  #sharedProcess() {
    const child = this.#take()
    const shared: SharedProcess = new SharedProcess(child, (reason) => {
      this.#children.delete(child)
      tell(child, reason)
      if (this.#shared === shared) this.#shared = undefined
      if (this.#stateless === shared) this.#stateless = undefined
      for (const [id, session] of this.#sessions) if (session.isOf(shared)) this.#sessions.delete(id)
    })
    return shared
  }

  /** Undefined when there is no room; waits for it while other sessions may become quiet. */
  async open(): Promise<Session | undefined> {
    const shared = this.#options.processes === "shared"
    for (let tries = 12; !shared && this.#sessions.size >= this.#options.sessions && !this.#makeRoom(); tries--) {
      if (tries === 0) return undefined
      await sleep(250)
    }
    const id = randomUUID()
    const session = new Session(id)
    this.#sessions.set(id, session)
    if (shared) {
      this.#shared ??= this.#sharedProcess()
      session.attach(this.#shared.connect(session), this.#shared)
      return session
    }
    const child = this.#take()
    session.attach({ send: (message) => child.send(message), stop: () => void child.stop() })
    child.listen({
      onMessage: (message) => session.receive(message),
      onEnd: (reason) => {
        this.#children.delete(child)
        tell(child, reason)
        this.#sessions.delete(id)
        session.fail(reason)
      }
    })
    return session
  }

  /** For a request of no session: a session of its own for its time, at a process that all such requests share. */
  stateless(): Session {
    const process = this.#options.processes === "shared"
      ? this.#shared ??= this.#sharedProcess()
      : this.#stateless ??= this.#sharedProcess()
    const session = new Session(undefined)
    session.attach(process.connect(session), process)
    return session
  }

  end(id: string) {
    this.#sessions.get(id)?.end()
    this.#sessions.delete(id)
  }

  #longestQuiet(than: number) {
    const since = Date.now() - than
    return [...this.#sessions].filter(([, session]) => !session.inUse && session.lastUsed <= since)
      .sort(([, a], [, b]) => a.lastUsed - b.lastUsed)
  }

  #makeRoom() {
    const [oldest] = this.#longestQuiet(quiet)
    if (oldest === undefined) return false
    this.end(oldest[0])
    return true
  }

  #endIdle() {
    for (const [id] of this.#longestQuiet(this.#options.idle)) this.end(id)
    const idle = this.#stateless
    if (idle !== undefined && !idle.inUse && idle.lastUsed < Date.now() - this.#options.idle) void idle.stop()
  }

  /** Ends all sessions and waits for their processes. */
  async stop() {
    for (const id of [...this.#sessions.keys()]) this.end(id)
    await Promise.all([...this.#children].map((child) => child.stop()))
  }
}
