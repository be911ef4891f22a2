import { openQuestions } from "#tools/open-questions.ts"
import { Deferred, Effect, Fiber } from "effect"
import { expect, it } from "vitest"

it("a thousand questions wait in all; one that is answered or interrupted makes room for one", () =>
  Effect.runPromise(Effect.gen(function*() {
    const whileOpen = openQuestions()
    const answer = yield* Deferred.make<string>()
    const ask = (account: number) => Effect.fork(whileOpen(`account ${account}`, Deferred.await(answer)))
    const asked = yield* Effect.forEach(Array.from({ length: 1_000 }), (_, i) => ask(Math.floor(i / 20)))
    const refusal = Effect.flip(whileOpen("another", Effect.succeed("asked")))
    yield* Effect.yieldNow()
    expect((yield* refusal).message).toContain("nothing was done")
    yield* Fiber.interrupt(asked[0]!)
    expect(yield* whileOpen("another", Effect.succeed("asked"))).toBe("asked")
    yield* Deferred.succeed(answer, "yes")
    yield* Effect.forEach(asked.slice(1), Fiber.join)
    expect(yield* whileOpen("account 0", Effect.succeed("asked"))).toBe("asked")
  })))
