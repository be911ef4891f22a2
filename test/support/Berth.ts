import { type Outside, OutsideNetwork } from "#src/egress/outside.ts"
import { type Machines } from "#src/machines/Machines.ts"
import { PlatformLive, platformOn } from "#src/Platform.ts"
import { DescriptorLimit } from "#src/shared/descriptors.ts"
import { Console, Effect, Exit, Layer, Scope } from "effect"
import { format } from "node:util"
import { afterAll, beforeAll } from "vitest"
import { type Account, signUp } from "./account.ts"
import { freshDatabaseUrl } from "./Database.ts"
import { type Answer, freePort, freshAddress, send, type Sent } from "./http.ts"
import { movableClock } from "./movable-clock.ts"
import { NoMachines } from "./no-machines.ts"
import { settingsTest } from "./Settings.ts"

export interface BerthOptions {
  /** Whether servers run. To find out what can run machines here takes half of a start, and most files need none. */
  readonly machines?: boolean | Layer.Layer<Machines>
  /** Settings beside or instead of the usual ones. */
  readonly variables?: Readonly<Record<string, string>>
  /** What machines find outside, in place of the network. */
  readonly outside?: Outside
  /** How many files the process may have open, as far as what it lets in depends on it. */
  readonly descriptors?: number
  /** Another database than a fresh one. */
  readonly databaseUrl?: string
  /** The way the program takes to it, when that is not straight. */
  readonly through?: (databaseUrl: string) => Promise<string>
}

/** Keeps what would be printed. */
const consoleTo = (lines: Array<string>): Console.Console => {
  const real = Effect.runSync(Console.consoleWith(Effect.succeed))
  const print = (...values: ReadonlyArray<unknown>) => void lines.push(format(...values))
  return { ...real, unsafe: { ...real.unsafe, log: print, error: print, warn: print, info: print, debug: print } }
}

/** The whole platform in this process: its own port, database and home. */
export class Berth {
  readonly #scope = Effect.runSync(Scope.make())
  readonly #clock = movableClock()
  /** What it has printed, line by line. */
  readonly logged: Array<string> = []
  url = ""
  databaseUrl = ""

  async start({ databaseUrl, descriptors, machines = false, outside, through, variables }: BerthOptions = {}) {
    const port = await freePort()
    this.url = `http://127.0.0.1:${port}`
    this.databaseUrl = databaseUrl ?? await Effect.runPromise(Scope.extend(freshDatabaseUrl, this.#scope))
    const settings = settingsTest({
      PORT: String(port),
      BASE_URL: this.url,
      COMPUTE_DRIVER: "sandbox",
      DATABASE_URL: through === undefined ? this.databaseUrl : await through(this.databaseUrl),
      // Each caller of the tests has an address of its own to be counted by.
      TRUST_PROXY: "1",
      // An account of the tests has one address.
      HUB_RATE_LIMIT: "100000",
      LOG_LEVEL: "DEBUG",
      ...variables
    })
    const running = machines === true ? PlatformLive : platformOn(machines === false ? NoMachines : machines)
    const platform = Layer.provide(running, settings).pipe(
      Layer.provide([Layer.setClock(this.#clock.clock), Console.setConsole(consoleTo(this.logged))]),
      Layer.provide(descriptors === undefined ? Layer.empty : Layer.succeed(DescriptorLimit, descriptors)),
      Layer.provide(outside === undefined ? Layer.empty : Layer.succeed(OutsideNetwork, outside))
    )
    await Effect.runPromise(Layer.buildWithScope(platform, this.#scope))
    return this
  }

  stop = () => Effect.runPromise(Scope.close(this.#scope, Exit.void))

  /** The program's time, in Unix milliseconds. */
  now = () => this.#clock.clock.unsafeCurrentTimeMillis()

  /** Moves the program's clock forward; the database's stays. */
  advance = (millis: number) => this.#clock.advance(millis)

  /** What the log tells of failures that nobody foresaw: a 500 leaves its cause there. */
  get unexpected() {
    return this.logged.filter((line) => /failed unexpectedly/.test(line))
  }

  /** Begins at once what comes every so many milliseconds, unless it is under way. */
  hurry = (millis: number) => this.#clock.hurry(millis)

  /** A request; from an address of its own unless the headers say another. */
  request = <Body = unknown>(method: string, path: string, sent: Sent = {}): Promise<Answer<Body>> =>
    send<Body>(this.url, method, path, { ...sent, headers: { "x-forwarded-for": freshAddress(), ...sent.headers } })

  /** A new user, logged in; on the plan given, `enterprise` where the test must not meet a limit. */
  signUp = (plan: "free" | "developer" | "pro" | "enterprise" = "free"): Promise<Account> => signUp(this, plan)
}

/**
 * One platform for the tests of a file or suite, started before them and stopped after. At the end nothing may have
 * failed that nobody foresaw, whatever the tests sent.
 */
export const useBerth = (options: BerthOptions = {}) => {
  const berth = new Berth()
  beforeAll(() => berth.start(options))
  afterAll(async () => {
    await berth.stop()
    const { unexpected } = berth
    // The process goes on with the next file, and keeps this one's modules.
    berth.logged.length = 0
    if (unexpected.length > 0) throw new Error(`Failures nobody foresaw:\n${unexpected.join("\n")}`)
  })
  return berth
}
