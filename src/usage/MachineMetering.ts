import { type MachineRun, Machines } from "#src/machines/Machines.ts"
import { Effect } from "effect"
import { MachineMeteringRepo, type Stretch } from "./MachineMeteringRepo.ts"

/** Statements take their time: without it each would lose by how much longer it took than the one before. */
const slack = 2_000

/** What a process knows of a machine that it counted. */
interface Counted {
  readonly run: MachineRun
  /** By a clock that stands still while the host is suspended, so that this time is not billed. */
  readonly at: number
}

/**
 * Measures machines' running time: every ten seconds, and when one ends or starts again. Until when it is counted is in
 * the database, so that a platform that comes back after a crash goes on from there (docs/decisions/machine-time.md).
 */
export class MachineMetering extends Effect.Service<MachineMetering>()("usage/MachineMetering", {
  effect: Effect.gen(function*() {
    const machines = yield* Machines
    const repo = yield* MachineMeteringRepo
    const counted = new Map<string, Counted>()

    const isSame = (one: MachineRun, other: MachineRun | undefined) =>
      one.startedAt === other?.startedAt && one.endedAt === other.endedAt

    const stretchOf = (run: MachineRun, now: number): Stretch | undefined => {
      const before = counted.get(run.name)
      const hasEnded = run.endedAt !== undefined
      if (run.endedAt === null || hasEnded && isSame(run, before?.run)) return undefined
      const endedAgo = run.endedAt === undefined ? 0 : Math.max(0, Date.now() - run.endedAt)
      const startedAgo = Math.max(0, Date.now() - run.startedAt)
      const since = before === undefined ? Infinity : now - before.at + slack
      return { machine: run.name, serverId: run.owner, startedAgo: Math.min(startedAgo, since), endedAgo }
    }

    const count = Effect.fnUntraced(function*(runs: ReadonlyArray<MachineRun>) {
      const now = performance.now()
      yield* repo.count(runs.flatMap((run) => stretchOf(run, now) ?? []))
      for (const run of runs) counted.set(run.name, { run, at: now })
    })

    /** Keeps nobody from what comes next. */
    const settle = <E>(what: string, runs: Effect.Effect<ReadonlyArray<MachineRun>, E>) =>
      Effect.flatMap(runs, count).pipe(
        Effect.disconnect,
        Effect.timeout("2 seconds"),
        Effect.catchAllCause((cause) => Effect.logWarning(`The time of ${what} was not counted`, cause))
      )

    return {
      tick: Effect.fn("MachineMetering.tick")(function*() {
        const runs = yield* machines.runs()
        yield* count(runs)
        const names = new Set(runs.map(({ name }) => name))
        for (const name of counted.keys()) if (!names.has(name)) counted.delete(name)
        yield* repo.forget([...names])
      }),
      /** Before a machine that has ended is started again, or removed. */
      settle: Effect.fn("MachineMetering.settle")((machine: string) =>
        settle(`machine ${machine}`, machines.runs(machine))
      ),
      /** Before servers are deleted, since nothing is counted of one that is gone. */
      settleServers: Effect.fn("MachineMetering.settleServers")((ids: ReadonlyArray<string>) =>
        settle(
          "deleted servers",
          Effect.map(machines.runs(), (runs) => runs.filter(({ owner }) => ids.includes(owner)))
        )
      )
    } as const
  })
}) {}
