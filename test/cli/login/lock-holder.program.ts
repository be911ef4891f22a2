import { withLock } from "#src/cli/login/lock.ts"
import { NodeContext } from "@effect/platform-node"
import { Effect } from "effect"
import { readFileSync, writeFileSync } from "node:fs"

/** A process of its own that adds five to a number, one at a time under a lock, and may be killed while it holds it. */
const [lock = "", number = "", end] = process.argv.slice(2)

const add = withLock(lock)(Effect.gen(function*() {
  const before = Number(readFileSync(number, "utf8"))
  yield* Effect.sleep("2 millis")
  writeFileSync(number, String(before + 1))
}))
const die = withLock(lock)(Effect.sync(() => process.kill(process.pid, "SIGKILL")))

await Effect.repeatN(add, 4).pipe(
  Effect.zipRight(end === "die" ? die : Effect.void),
  Effect.provide(NodeContext.layer),
  Effect.runPromise
)
