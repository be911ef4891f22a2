import { Effect, Exit, Scope } from "effect"
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { setTimeout } from "node:timers/promises"
import pg from "pg"
import { killableBundle } from "../../ready-server/bundle.ts"
import { type Account, signUp } from "../../support/account.ts"
import { freshDatabaseUrl } from "../../support/Database.ts"
import { freePort, freshAddress, send, type Sent } from "../../support/http.ts"
import { temporaryDirectory } from "../../support/Settings.ts"
import { destroyMachines } from "./machines.ts"

/** What its process is started with. */
export interface Given {
  readonly variables: Readonly<Record<string, string>>
}

/** What its process is told: to move its clock, and to begin what comes every so many milliseconds. */
export interface Told {
  readonly advance?: number
  readonly hurry?: ReadonlyArray<number>
}

/** A platform that can be killed and started again, at the same address, with its database and its home. */
export class Killable {
  readonly home = temporaryDirectory("killable")
  readonly #scope = Effect.runSync(Scope.make())
  readonly #variables: Readonly<Record<string, string>>
  #child: ChildProcess | undefined
  databaseUrl = ""
  url = ""

  constructor(variables: Readonly<Record<string, string>> = {}) {
    this.#variables = variables
  }

  start = async () => {
    if (this.url === "") {
      this.url = `http://127.0.0.1:${await freePort()}`
      this.databaseUrl = await Effect.runPromise(Scope.extend(freshDatabaseUrl, this.#scope))
    }
    const own = {
      BERTH_HOME: this.home,
      BASE_URL: this.url,
      PORT: new URL(this.url).port,
      DATABASE_URL: this.databaseUrl,
      COMPUTE_DRIVER: "sandbox",
      TRUST_PROXY: "1",
      LOG_LEVEL: "ERROR"
    }
    const given: Given = { variables: { ...own, ...this.#variables } }
    const child = fork(await killableBundle(), [JSON.stringify(given)], { execArgv: ["--no-deprecation"] })
    this.#child = child
    const ended = once(child, "exit").then(([code]) => {
      throw new Error(`the platform ended at its start with ${String(code)}`)
    })
    await Promise.race([once(child, "message"), ended])
  }

  /** One that is being killed hears nothing. */
  tell = (what: Told) => void this.#child?.send(what, () => undefined)

  kill = async () => {
    const child = this.#child
    if (child?.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, "exit")
    child.kill("SIGKILL")
    await ended
  }

  /** Kills it so many milliseconds after a statement has an answer with a row, which is asked without a pause. */
  killWhen = async (statement: string, values: ReadonlyArray<unknown>, delay = 0) => {
    const client = new pg.Client({ connectionString: this.databaseUrl })
    await client.connect()
    try {
      while ((await client.query(statement, [...values])).rowCount === 0) continue
    } finally {
      await client.end()
    }
    if (delay > 0) await setTimeout(delay)
    await this.kill()
  }

  /** Ends it with all that its machines are. */
  clear = async () => {
    await this.kill()
    await Effect.runPromise(destroyMachines(this.home))
    await Effect.runPromise(Scope.close(this.#scope, Exit.void))
  }

  request = <Body = unknown>(method: string, path: string, sent: Sent = {}) =>
    send<Body>(this.url, method, path, { ...sent, headers: { "x-forwarded-for": freshAddress(), ...sent.headers } })

  signUp = (): Promise<Account> => signUp(this, "enterprise")
}
