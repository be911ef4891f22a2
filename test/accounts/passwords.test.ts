import { mostWaiting, Passwords } from "#src/accounts/Passwords.ts"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Fiber } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { getPriority } from "node:os"

/** The priorities of this process's threads (proc_pid_stat(5), field 19), by thread. */
const priorities = () =>
  new Map(
    readdirSync("/proc/self/task").flatMap((thread) => {
      try {
        const fields = readFileSync(`/proc/self/task/${thread}/stat`, "utf8").replace(/^.*\) /s, "").split(" ")
        return [[thread, Number(fields[16])] as const]
      } catch {
        // It has ended since.
        return []
      }
    })
  )

const lowered = () => [...priorities().values()].filter((nice) => nice > getPriority()).length

const withPasswords = <A, E>(use: (passwords: Passwords) => Effect.Effect<A, E>) =>
  Effect.flatMap(Passwords, use).pipe(Effect.provide(Passwords.Default))

describe("passwords", () => {
  it.live("are hashed anew each time, and checked to the letter", () =>
    withPasswords(({ hash, verify }) =>
      Effect.gen(function*() {
        const [one, two] = [yield* hash("correct horse"), yield* hash("correct horse")]
        assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
        assert.notStrictEqual(one, two)
        assert.isTrue(yield* verify(one, "correct horse"))
        assert.isFalse(yield* verify(one, "correct horsf"))
        assert.isFalse(yield* verify(undefined, "correct horse"))
      })
    ))

  it.live("are checked on although a thread ended over a hash that is none", () =>
    withPasswords(({ hash, verify }) =>
      Effect.gen(function*() {
        assert.isTrue((yield* Effect.exit(verify("not a hash", "x")))._tag === "Failure")
        assert.isTrue(yield* verify(yield* hash("x"), "x"))
      })
    ))

  it.live("have a place each while they are checked; what is beyond is refused, and what is given up makes room", () =>
    withPasswords(({ admitted }) =>
      Effect.gen(function*() {
        const holders: Array<Fiber.RuntimeFiber<unknown, unknown>> = []
        const taken = Effect.gen(function*() {
          const fiber = yield* Effect.fork(admitted(Effect.never))
          yield* Effect.yieldNow()
          holders.push(fiber)
          return fiber.unsafePoll() === null
        })
        while (yield* taken);
        assert.isAtLeast(holders.length - 1, mostWaiting + 1)
        const refusal = yield* Effect.flip(admitted(Effect.void))
        assert.deepInclude(refusal, { _tag: "LogInsBusy", retryAfter: 5 })
        yield* Fiber.interrupt(holders[0]!)
        assert.isTrue(Either.isRight(yield* Effect.either(admitted(Effect.void))))
        yield* Fiber.interruptAll(holders)
      })
    ))

  it.live.skipIf(process.platform !== "linux")(
    "are hashed on threads that give way to all others, and end",
    () =>
      Effect.gen(function*() {
        const before = lowered()
        yield* withPasswords(({ hash }) =>
          Effect.gen(function*() {
            yield* hash("x")
            assert.isAbove(lowered(), before)
            // The process's own thread keeps the priority it had.
            assert.strictEqual(priorities().get(String(process.pid)), getPriority())
          })
        )
        assert.strictEqual(lowered(), before)
      })
  )
})
