import { CurrentSettings } from "#src/config/Settings.ts"
import { hostId } from "#src/shared/host-id.ts"
import { Secrets } from "#src/shared/Secrets.ts"
import { randomToken } from "#src/shared/tokens.ts"
import { Context, Deferred, Effect, Layer, Schedule } from "effect"
import { describeHost, type Host, LeaseError } from "./Host.ts"
import { HostsRepo } from "./HostsRepo.ts"
import { isProvablyGone, thisProcess } from "./this-process.ts"

/** Seconds. A reference, so that a test need not wait as long. */
export class LeaseTimes extends Context.Reference<LeaseTimes>()("hosts/LeaseTimes", {
  defaultValue: () => ({ lease: 30, renewEvery: 5 })
}) {}

const refusal = (host: Host) =>
  new LeaseError({
    message: `Another berth serves this installation: ${describeHost(host)}. Stop it, or wait until its lease has ended`
  })

/**
 * Machines run on one host, so one host serves an installation at a time: the one that holds the lease. It is refused
 * while another's runs, renewed as long as the process lives, and given back at its end. See docs/decisions/host-lease.md.
 */
export class HostLease extends Effect.Service<HostLease>()("hosts/HostLease", {
  scoped: Effect.gen(function*() {
    const { home } = yield* CurrentSettings
    const { lease, renewEvery } = yield* LeaseTimes
    const { keyIds } = yield* Secrets
    const repo = yield* HostsRepo
    const own = { ...thisProcess(), id: yield* hostId(home), session: randomToken(), keyIds }
    const lost = yield* Deferred.make<never, LeaseError>()

    let confirmedAt = performance.now()
    /** With a second to spare: whoever comes next looks at the database's clock. */
    const isFresh = () => performance.now() - confirmedAt < (lease - 1) * 1000

    const judge = Effect.fnUntraced(function*(others: ReadonlyArray<Host>) {
      for (const other of others) {
        if (other.isLive && !isProvablyGone(other, own.id, own)) return yield* refusal(other)
        if (other.id !== own.id) yield* Effect.logInfo(`Taking over from ${describeHost(other)}`)
      }
    })

    const giveBack = repo.release(own.session).pipe(
      Effect.catchAllCause((cause) => Effect.logWarning("The lease was not given back; it ends by itself", cause)),
      Effect.disconnect,
      Effect.timeoutOption("1 second")
    )
    yield* Effect.acquireRelease(repo.take(own, lease, judge), () => giveBack)

    const overtaken = Effect.gen(function*() {
      const [other] = yield* repo.live
      const by = other === undefined ? "" : `: ${describeHost(other)}`
      yield* Deferred.fail(
        lost,
        new LeaseError({ message: `This host has lost its lease, and stops what it runs: another one took over${by}` })
      )
    })

    const renew = Effect.gen(function*() {
      // The time of the question: an answer that was long on its way must not pass for a fresh one.
      const asked = performance.now()
      if (yield* repo.renew(own.session, lease)) confirmedAt = asked
      else yield* overtaken
    }).pipe(Effect.disconnect, Effect.timeout(`${renewEvery} seconds`))

    yield* renew.pipe(
      Effect.catchAllCause((cause) => Effect.logDebug("The lease could not be renewed; trying again", cause)),
      Effect.repeat(Schedule.spaced(`${renewEvery} seconds`)),
      Effect.delay(`${renewEvery} seconds`),
      Effect.raceFirst(Effect.exit(Deferred.await(lost))),
      Effect.forkScoped
    )

    return {
      id: own.id,
      /** Fails when another host has taken over: never otherwise. */
      lost: Deferred.await(lost),
      /**
       * Runs what decides about machines, unless the lease may be another's by now: after the database was away, or the
       * process stood still, it is asked for first.
       */
      whileHeld: <A, E, R>(work: Effect.Effect<A, E, R>) =>
        Effect.gen(function*() {
          if (!isFresh()) yield* Effect.ignore(Effect.sandbox(renew))
          if (!isFresh() || (yield* Deferred.isDone(lost))) return
          yield* work
        })
    } as const
  })
}) {}

/** Held from the moment it is built. Needs the database, the settings and what seals. */
export const HostLeaseLive = Layer.provide(HostLease.Default, HostsRepo.Default)
