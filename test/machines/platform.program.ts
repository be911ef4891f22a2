import { Machines } from "#src/machines/Machines.ts"
import { Effect } from "effect"
import { sandboxOf, specOf } from "./support.ts"

/**
 * A platform to be killed: `platform.program.ts HOME TIER start NAME` starts one machine and stays, `… churn` makes, stops
 * and destroys machines without end. Says "ready" when the driver is up and "it runs" when the machine does.
 */
const [home = "", tier = "auto", mode = "start", name = "m"] = process.argv.slice(2)

const churn = (machines: typeof Machines.Service) =>
  Effect.forEach(["a", "b", "c"], (each) =>
    machines.provision(specOf(each)).pipe(
      Effect.zipRight(machines.start(each)),
      Effect.zipRight(machines.stop(each, 1)),
      Effect.zipRight(machines.start(each)),
      Effect.zipRight(machines.destroy(each)),
      Effect.forever
    ), { concurrency: "unbounded", discard: true })

const main = Effect.gen(function*() {
  const machines = yield* Machines
  console.log(`ready ${JSON.stringify({ ...machines.driver, ...yield* machines.guarantees })}`)
  if (mode === "churn") return yield* churn(machines)
  yield* machines.provision(specOf(name))
  console.log(`it runs: ${JSON.stringify(yield* machines.start(name))}`)
  return yield* Effect.never
})

Effect.runPromise(Effect.provide(main, sandboxOf(home, tier))).catch((error) => {
  console.error(String(error))
  process.exit(1)
})
