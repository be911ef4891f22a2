/**
 * What the month's limit adds to a request that the gateway passes on: an account of a plan with a limit, which takes its
 * requests from a budget in a real database, beside one without, whose requests are only counted there. Both send to the
 * same machine, in turn.
 *
 *   npm run bench quota [seconds a round [rounds]]
 */
import { clientLayer } from "#sql/Client.ts"
import { embedded } from "#sql/Embedded.ts"
import { migrate } from "#sql/Migrate.ts"
import { migrations } from "#sql/migrations.ts"
import { Effect, Redacted } from "effect"
import { join } from "node:path"
import { temporaryDirectory } from "../support/Settings.ts"
import { runSql } from "../support/sql.ts"
import { loadName, put, type Result } from "./gateway/load.ts"
import { otherCores, proxyCore, startProgram } from "./gateway/processes.ts"
import { processorTime } from "./support/processor.ts"

const seconds = Number(process.argv[2] ?? "3")
const rounds = Number(process.argv[3] ?? "5")
const home = temporaryDirectory("bench")
const socketPath = join(home, "machine.sock")
const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[values.length >> 1]!

const plans = ["enterprise", "pro"] as const

const run = async (url: string) => {
  await runSql(url, "INSERT INTO users (id, email, password_hash) VALUES ('account', 'a@example.com', '')")
  await startProgram<number>("machine", otherCores, socketPath)
  const fronts = await Promise.all(plans.map(async (plan) => {
    const { child, said } = await startProgram<{ port: number; token: string }>(
      "front",
      proxyCore,
      socketPath,
      plan,
      url
    )
    return { plan, child, pid: child.pid!, load: { ...said, path: "/s/bench/mcp" } }
  }))
  for (const connections of [32, 1]) {
    const rows = new Map<string, Array<Result & { readonly cpu: number }>>(plans.map((plan) => [plan, []]))
    for (let round = -1; round < rounds; round++) {
      for (const { load, pid, plan } of fronts) {
        // A million a month lasts less than a minute here.
        await runSql(url, "DELETE FROM usage")
        const before = processorTime(pid)
        const result = await put(home, { ...load, seconds, connections })
        const cpu = (processorTime(pid) - before) / result.total * 1000
        // The first round is for what is hot to be compiled.
        if (round >= 0) rows.get(plan)!.push({ ...result, cpu })
      }
    }
    console.log(`${connections} connections, ${loadName}; medians of ${rounds} rounds, × of no limit (least to most)`)
    for (const [plan, results] of rows) {
      const none = rows.get("enterprise")!
      const ratios = results.map(({ perSecond }, round) => perSecond / none[round]!.perSecond).toSorted((a, b) => a - b)
      const of = (key: keyof Result | "cpu", digits: number) =>
        median(results.map((result) => result[key])).toFixed(digits)
      console.log(
        `  ${plan}: × ${median(ratios).toFixed(2)} (${ratios[0]!.toFixed(2)} to ${ratios.at(-1)!.toFixed(2)}), ` +
          `${of("perSecond", 0)}/s, p50 ${of("p50", 3)}, p99 ${of("p99", 3)} ms, ${of("cpu", 1)} µs of processor time`
      )
    }
  }
  // They would tell of the end of their database.
  for (const { child } of fronts) child.kill("SIGKILL")
}

const main = Effect.gen(function*() {
  const { database, host, port, user } = yield* embedded(home, { exclusive: false })
  const url = `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`
  yield* Effect.provide(migrate(migrations), clientLayer(Redacted.make(url), 3))
  yield* Effect.promise(() => run(url))
})
await Effect.runPromise(Effect.scoped(main))
process.exit()
