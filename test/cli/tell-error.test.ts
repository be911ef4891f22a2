import { errorText } from "#src/cli/error-answer.ts"
import { tellError } from "#src/cli/json-output.ts"
import { oneLine, printable } from "#src/cli/mcp/render.ts"
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

it("text of others neither turns its direction nor looks like a line of the command's own", () => {
  const turned = [..."\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"].join("x")
  assert.strictEqual(printable(`exe.${turned}`), `exe.${"x".repeat(11)}`)
  assert.strictEqual(oneLine("a\u202eb\nc"), "ab c")
  assert.strictEqual(errorText({ error: { message: "no\nLogged in to x\n" } }), "no\n  Logged in to x")
  const issues = [{ path: "a", message: "is\nwrong" }, { path: "b", message: "too" }]
  assert.strictEqual(errorText({ error: { message: "", details: { issues } } }), "a: is\n  wrong\nb: too")
})
