import { CurrentSettings } from "#src/config/Settings.ts"
import { hostId } from "#src/shared/host-id.ts"
import { Secrets } from "#src/shared/Secrets.ts"
import { randomToken } from "#src/shared/tokens.ts"
import { Context, Deferred, Effect, Layer, Schedule } from "effect"
import { describeHost, type Host, LeaseError } from "./Host.ts"
import { HostsRepo } from "./HostsRepo.ts"
import { isProvablyGone, thisProcess } from "./this-process.ts"

/** Seconds. A reference, so that tests can use shorter times. */
export class LeaseTimes extends Context.Reference<LeaseTimes>()("hosts/LeaseTimes", {
  defaultValue: () => ({ lease: 30, renewEvery: 5 })
}) {}

const heldBy = (host: Host) =>
  new LeaseError({
    message: `Another berth serves this installation: ${describeHost(host)}. Stop it, or wait until its lease has ended`
  })

/**
 * Machines run on one host, so only the host that holds the lease serves an installation. A process can't take the
 * lease before another's has expired, renews it while it runs, and releases it at shutdown. See
 * docs/decisions/host-lease.md.
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
    /** A margin of a second, because the next host goes by the database's clock. */
    const isFresh = () => performance.now() - confirmedAt < (lease - 1) * 1000

    const checkOthers = Effect.fnUntraced(function*(others: ReadonlyArray<Host>) {
      for (const other of others) {
        if (other.isLive && !isProvablyGone(other, own.id, own)) return yield* heldBy(other)
        if (other.id !== own.id) yield* Effect.logInfo(`Taking over from ${describeHost(other)}`)
      }
    })

    const release = repo.release(own.session).pipe(
      Effect.catchAllCause((cause) => Effect.logWarning("The lease was not released; it will expire", cause)),
      Effect.disconnect,
      Effect.timeoutOption("1 second")
    )
    yield* Effect.acquireRelease(repo.take(own, lease, checkOthers), () => release)

    const overtaken = Effect.gen(function*() {
      const [other] = yield* repo.live
      const by = other === undefined ? "" : `: ${describeHost(other)}`
      yield* Deferred.fail(
        lost,
        new LeaseError({ message: `This host has lost its lease, and stops what it runs: another one took over${by}` })
      )
    })

    const renew = Effect.gen(function*() {
      // The time before the query, so that a delayed answer doesn't count as fresh.
      const requestedAt = performance.now()
      if (yield* repo.renew(own.session, lease)) confirmedAt = requestedAt
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
      /** Fails when another host has taken over, and never completes otherwise. */
      lost: Deferred.await(lost),
      /**
       * Runs work that decides about machines only while the lease is certainly held. After an outage of the database
       * or a pause of the process it renews the lease first.
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

/** Takes the lease when it is built. Needs the database, the settings and `Secrets`. */
export const HostLeaseLive = Layer.provide(HostLease.Default, HostsRepo.Default)
