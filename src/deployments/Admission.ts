import { Refusals } from "#src/egress/Refusals.ts"
import { Machines } from "#src/machines/Machines.ts"
import { type LogLevel } from "#src/servers/ServerLog.ts"
import { ServerLogs } from "#src/servers/ServerLogs.ts"
import { Servers } from "#src/servers/Servers.ts"
import { quotable } from "#src/shared/outside-text.ts"
import { Clock, Data, Effect } from "effect"
import { type DeploymentRow } from "./Deployment.ts"
import { DeploymentsRepo } from "./DeploymentsRepo.ts"
import { type Asked, Handshakes, type Target } from "./Handshakes.ts"
import { orHealthPath } from "./health.ts"
import { awaitHealthy, healthRule, Unhealthy } from "./HealthCheck.ts"
import { Watch } from "./Watch.ts"

/** The machine is healthy, but does not speak MCP as its server must. */
class NoMcp extends Data.TaggedError("NoMcp")<{ readonly message: string }> {}

/** How often it is told what a deployment waits for. */
const reminder = "5 seconds"

/** Where MCP can't be tried, it can't stand in for the health path. */
const guarded = "MCP can't be tried in its place, since the server takes tokens of its own issuer only; set its " +
  "healthPath to a path that answers 200 with JSON, such as /.well-known/oauth-protected-resource"

const inSeconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(1)} s`

/** Whether a new machine may serve: its health check, and the MCP handshake (docs/decisions/health-gate.md). */
export class Admission extends Effect.Service<Admission>()("deployments/Admission", {
  effect: Effect.gen(function*() {
    const handshakes = yield* Handshakes
    const logs = yield* ServerLogs
    const machines = yield* Machines
    const repo = yield* DeploymentsRepo
    const refusals = yield* Refusals
    const servers = yield* Servers
    const watch = yield* Watch

    const log = ({ serverId, version }: DeploymentRow, message: string, level: LogLevel = "info") =>
      logs.append(serverId, [{ level, message: `Deployment ${version}: ${message}` }])

    const maskOf = ({ id }: Target) => (words: string) => logs.masked(id, words)

    /** Tells every five seconds what it waits for, while it waits. */
    const withReminders = Effect.fnUntraced(function*<A, E, R>(
      record: DeploymentRow,
      what: () => Effect.Effect<string>,
      work: Effect.Effect<A, E, R>
    ) {
      const start = yield* Clock.currentTimeMillis
      const remind = Effect.gen(function*() {
        yield* Effect.sleep(reminder)
        const waited = Math.round(((yield* Clock.currentTimeMillis) - start) / 1000)
        const note = quotable(yield* logs.masked(record.serverId, `Still waiting after ${waited} s: ${yield* what()}`))
        yield* log(record, note)
        yield* repo.note(record.id, note)
        yield* watch.changed(record.id)
        // Without the database nobody is told, and the work goes on.
      }).pipe(Effect.catchAllDefect(() => Effect.void))
      return yield* Effect.raceFirst(work, Effect.forever(remind))
    })

    /** Handshakes on which the deployment depends; the last answer is kept with it, whatever comes of it. */
    const makeTrial = (server: Target, record: DeploymentRow) => {
      let last: Asked | undefined
      /** Undefined when it passed, else what went wrong. */
      const attempt = Effect.fnUntraced(function*(secondsLeft: number) {
        last = yield* handshakes.ask(server, record, secondsLeft)
        return last === undefined ? "the machine is gone" : last.report.ok ? undefined : last.report.problem ?? "no MCP"
      }, Effect.catchTag("MachineError", ({ message }) => Effect.succeed(message)))
      return {
        attempt,
        isGuarded: () => last?.report.isGuarded === true,
        save: Effect.suspend(() => last === undefined ? Effect.void : handshakes.save(record.id, last.report)),
        tell: Effect.suspend(() => last === undefined ? Effect.void : handshakes.tell(server, record, last))
      }
    }

    /**
     * Tries a healthy machine until it speaks MCP, or its time is up: it may answer its health check first. One that says
     * nothing is tried once, with all of the time: another try would begin anew what it is busy with.
     */
    const awaitMcp = Effect.fn("Admission.awaitMcp")(function*(server: Target, record: DeploymentRow) {
      const trial = makeTrial(server, record)
      const start = yield* Clock.currentTimeMillis
      const deadline = start + server.healthTimeoutSeconds * 1000
      let problem: string | undefined = "no answer yet"
      const untilAnswered = Effect.gen(function*() {
        while (true) {
          const now = yield* Clock.currentTimeMillis
          problem = yield* trial.attempt((deadline - now) / 1000)
          if (problem === undefined || trial.isGuarded()) return
          if ((yield* machines.inspect(record.id))?.status !== "running") {
            return yield* new Unhealthy({ message: `the machine ended while it was tried with MCP: ${problem}` })
          }
          if ((yield* Clock.currentTimeMillis) + 1_000 >= deadline) {
            const tried = inSeconds((yield* Clock.currentTimeMillis) - start)
            return yield* new NoMcp({
              message:
                `the server must speak MCP (requireMcp), and the handshake failed: ${problem} (tried for ${tried})`
            })
          }
          yield* Effect.sleep("1 second")
        }
      })
      const waitsFor = () => Effect.succeed(`the MCP handshake: ${problem ?? ""}`)
      yield* withReminders(record, waitsFor, untilAnswered).pipe(Effect.tapError(() => trial.save))
      yield* Effect.zipRight(trial.save, trial.tell)
    })

    const awaitHealth = Effect.fn("Admission.awaitHealth")(function*(server: Target, record: DeploymentRow) {
      const trial = makeTrial(server, record)
      const { healthPath } = server
      let problem: Effect.Effect<string> = Effect.succeed("did not answer yet")
      const tried = (seconds: number) =>
        Effect.map(
          trial.attempt(seconds),
          (failure) => trial.isGuarded() ? guarded : failure === undefined ? undefined : `${failure}${orHealthPath}`
        )
      // A repeated stage asks again.
      const healthy = awaitHealthy({ ...healthRule(server, record), notFoundIsAlive: false }, {
        onNotFound: tried,
        mask: maskOf(server),
        onWaiting: (now) => void (problem = now)
      }).pipe(
        Effect.provideService(Machines, machines),
        Effect.tapErrorTag("Unhealthy", () => trial.save)
      )
      const waitsFor = () => Effect.map(problem, (text) => `${healthPath} ${text}`)
      const { by, took } = yield* withReminders(record, waitsFor, healthy)
      if (by === "mcp") {
        const inPlace = `${healthPath} answered with status 404, and the MCP handshake passed in its place`
        yield* log(record, `healthy after ${inSeconds(took)}: ${inPlace}`)
        yield* Effect.zipRight(trial.save, trial.tell)
      } else yield* log(record, `healthy after ${inSeconds(took)}`)
      return by
    })

    /** Nothing depends on the handshake here, but that the machine has not ended since it was healthy. */
    const tryMcp = Effect.fn("Admission.tryMcp")(function*(server: Target, record: DeploymentRow) {
      if (yield* handshakes.attempt(server, record)) return
      yield* Effect.provideService(
        awaitHealthy(healthRule(server, record), { answered: true, mask: maskOf(server) }),
        Machines,
        machines
      )
    })

    /** What its egress refused meanwhile may be the cause, which its program seldom says. */
    const withRefusals = ({ createdAt, serverId }: DeploymentRow) => (message: string) =>
      Effect.map(
        refusals.since(serverId, createdAt.getTime()),
        (told) => told === undefined ? message : `${message}. ${told}`
      )

    /** Waits until the machine may serve, and remembers by what it may; fails with why it may not. */
    const check = Effect.fn("Admission.check")(function*(server: Target, record: DeploymentRow) {
      const { healthPath, healthTimeoutSeconds, id } = server
      const mustSpeak = (yield* servers.requiringMcp([id])).has(id)
      yield* log(
        record,
        `waiting for ${healthPath} (${healthTimeoutSeconds} s at most)${mustSpeak ? ", and then for MCP" : ""}`
      )
      const by = yield* awaitHealth(server, record)
      if (by === "health") yield* mustSpeak ? awaitMcp(server, record) : tryMcp(server, record)
      yield* repo.admitted(record.id, by)
    }, (check, _, record) =>
      Effect.catchTags(check, {
        Unhealthy: ({ message }) =>
          Effect.flatMap(withRefusals(record)(message), (whole) => new Unhealthy({ message: whole })),
        NoMcp: ({ message }) => Effect.flatMap(withRefusals(record)(message), (whole) => new NoMcp({ message: whole }))
      }))

    return { check } as const
  })
}) {}
