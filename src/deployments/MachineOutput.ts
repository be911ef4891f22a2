import { type MachineLine, Machines } from "#src/machines/Machines.ts"
import { type LogLine, ServerLogs } from "#src/servers/ServerLogs.ts"
import { Chunk, Clock, Effect, FiberMap, Schedule, Stream } from "effect"
import { goingOn, maskLines, waitsFrom } from "./cut-lines.ts"
import { levelOf } from "./output-level.ts"
import { OutputRepo } from "./OutputRepo.ts"
import { admit, fullCap } from "./rate-cap.ts"

const batch = { lines: 500, wait: "200 millis" } as const
/** Milliseconds without new lines: more than a batch waits, and than a driver needs to notice new output. */
const quiet = 800
const patience = 3_000
/** Milliseconds for which a part of a line waits for the next. */
const maxWait = 1_500

const note = (dropped: number): LogLine => ({
  level: "warn",
  message: `${dropped} lines of output were dropped: the machine writes more than its log takes`
})

/**
 * Copies the output of machines into their servers' logs. The position advances in the transaction that stores the
 * lines, so a restart neither loses nor repeats any.
 */
export class MachineOutput extends Effect.Service<MachineOutput>()("deployments/MachineOutput", {
  scoped: Effect.gen(function*() {
    const machines = yield* Machines
    const logs = yield* ServerLogs
    const repo = yield* OutputRepo
    const followers = yield* FiberMap.make<string>()
    const lastLine = new Map<string, number>()

    const exists = (machine: string) =>
      Effect.match(machines.inspect(machine), { onFailure: () => true, onSuccess: (state) => state !== undefined })

    const copy = Effect.fnUntraced(function*(machine: string, serverId: string) {
      let cap = fullCap(yield* Clock.currentTimeMillis)
      let noticedAt = 0
      /** Not stored yet: a part of a line whose next part tells whether a secret begins at its end. */
      let waiting: ReadonlyArray<MachineLine> = []
      let before: ReadonlyArray<MachineLine> = []
      let waitedSince = 0
      const single = Effect.unsafeMakeSemaphore(1)

      const store = Effect.fnUntraced(function*(chunk: Chunk.Chunk<MachineLine>) {
        const now = yield* Clock.currentTimeMillis
        const all = [...waiting, ...Chunk.toReadonlyArray(chunk)]
        if (waiting.length === 0) waitedSince = now
        const end = now - waitedSince < maxWait ? waitsFrom(all) : undefined
        const masked = maskLines(yield* logs.maskOf(serverId), before, all)
        const read = masked.slice(0, end)
        const { admitted, cap: next } = admit(cap, now, read)
        const due = next.dropped > 0 && now - noticedAt >= 1_000
        const lines: ReadonlyArray<LogLine> = [
          ...admitted.map((line) => ({ level: levelOf(line), message: line.text, isMasked: true as const })),
          ...(due ? [note(next.dropped)] : [])
        ]
        const last = read.at(-1)
        if (last !== undefined) {
          lastLine.set(machine, now)
          yield* repo.advance(machine, serverId, last.offset, logs.append(serverId, lines))
          before = goingOn([...before, ...all.slice(0, end)])
          waitedSince = now
        } else yield* logs.append(serverId, lines)
        waiting = end === undefined ? [] : all.slice(end)
        cap = due ? { ...next, dropped: 0 } : next
        if (due) noticedAt = now
      }, single.withPermits(1))

      const lines = machines.output(machine, yield* repo.position(machine)).pipe(
        Stream.groupedWithin(batch.lines, batch.wait),
        Stream.mapEffect(store)
      )
      // Reports dropped lines, and stores those that wait, also when no further line follows.
      const reminders = Stream.tick("1 second").pipe(
        Stream.mapEffect(() => cap.dropped > 0 || waiting.length > 0 ? store(Chunk.empty()) : Effect.void)
      )
      yield* Stream.runDrain(Stream.merge(lines, reminders, { haltStrategy: "left" }))
    })

    /** Runs until the machine is destroyed. After any error it retries from the stored position. */
    const follow = (machine: string, serverId: string) =>
      FiberMap.run(
        followers,
        machine,
        copy(machine, serverId).pipe(
          Effect.tapErrorCause((cause) =>
            Effect.whenEffect(Effect.logWarning(`The output of ${machine} can't be read`, cause), exists(machine))
          ),
          Effect.sandbox,
          Effect.retry({ schedule: Schedule.spaced("5 seconds"), while: () => exists(machine) }),
          Effect.ignore,
          Effect.ensuring(Effect.sync(() => lastLine.delete(machine)))
        ),
        { onlyIfMissing: true }
      ).pipe(Effect.asVoid)

    /** Waits until the machine's output so far is in the log, for three seconds at most. */
    const caughtUp = Effect.fn("MachineOutput.caughtUp")(function*(machine: string) {
      const start = yield* Clock.currentTimeMillis
      while (yield* FiberMap.has(followers, machine)) {
        const now = yield* Clock.currentTimeMillis
        if (now - start >= patience || now - Math.max(start, lastLine.get(machine) ?? 0) >= quiet) return
        yield* Effect.sleep(50)
      }
    })

    /** Keeps the position, so that the next follower continues from there. */
    const unfollow = (machine: string) => FiberMap.remove(followers, machine)

    const forget = Effect.fn("MachineOutput.forget")(function*(machine: string) {
      yield* unfollow(machine)
      yield* repo.forget(machine)
    })

    return { follow, unfollow, caughtUp, forget } as const
  })
}) {}
