import { tellError } from "#src/cli/json-output.ts"
import { assert, it } from "@effect/vitest"
import { Console, Effect } from "effect"

it.effect("an error that an installation has worded does not control the terminal", () =>
  Effect.gen(function*() {
    const told: Array<unknown> = []
    const console = yield* Console.consoleWith(Effect.succeed)
    const kept = {
      ...console,
      error: (...values: ReadonlyArray<unknown>) => Effect.sync(() => void told.push(...values))
    }
    yield* Effect.withConsole(tellError("refused:\u001b[2J \u001b]0;yours\u0007\u009b31m\r no\n\tway", 1), kept)
    assert.deepStrictEqual(told, ["refused:[2J ]0;yours31m no\n\tway"])
  }))
