import { GuestRequests } from "#src/usage/GuestRequests.ts"
import { GuestRequestsRepo } from "#src/usage/GuestRequestsRepo.ts"
import { SqlClient } from "@effect/sql"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { gatewayServices, newServer } from "../gateway/support.ts"

/** A gateway of its own on the test's database, as far as guests go. */
const gateway = Effect.map(
  Layer.build(Layer.fresh(Layer.provide(GuestRequests.Default, GuestRequestsRepo.Default))),
  (context) => Effect.runSync(Effect.provide(GuestRequests, context))
)

const host = (serverId: string, guestRequestsPerMinute: number | null = 60) =>
  ({ serverId, plan: "free", guestRequestsPerMinute, guestMonthPercent: 10 }) as const

const ask = (guests: GuestRequests, of: ReturnType<typeof host>, times: number, guest = "guest") =>
  Effect.promise(async () => {
    const asked = Array.from({ length: times }, async () => guests.admit(of, guest))
    return (await Promise.all(asked)).filter((refusal) => refusal === undefined).length
  })

/** One after the other, as one client does. */
const askInTurn = (guests: GuestRequests, of: ReturnType<typeof host>, times: number) =>
  Effect.map(
    Effect.forEach(Array.from({ length: times }), () => ask(guests, of, 1)),
    (all) => all.filter(Boolean).length
  )

layer(gatewayServices(), { excludeTestServices: true })("the requests of a guest", (it) => {
  it.scoped("are let through to the last of the minute, and no further, by several gateways", () =>
    Effect.gen(function*() {
      const { id } = yield* newServer()
      const [one, two] = [yield* gateway, yield* gateway]
      const passed = yield* Effect.all([ask(one, host(id), 50), ask(two, host(id), 50)], { concurrency: "unbounded" })
      assert.strictEqual(passed[0] + passed[1], 60)
      assert.strictEqual(yield* ask(one, host(id), 10, "another guest"), 10)
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE guest_requests SET minute_start = minute_start - interval '1 minute'`
      yield* Effect.sleep("1100 millis")
      assert.strictEqual(yield* ask(one, host(id), 100), 60, "a new minute")
    }))

  it.scoped("that one gateway took ahead are of no use to another for a minute, an eighth at most", () =>
    Effect.gen(function*() {
      const { id } = yield* newServer()
      const [one, two] = [yield* gateway, yield* gateway]
      const first = yield* askInTurn(one, host(id), 20)
      const rest = yield* askInTurn(two, host(id), 60)
      assert.strictEqual(first, 20)
      assert.isAtLeast(rest, 60 - 20 - 60 / 8)
      assert.isAtMost(rest, 40)
    }))

  it.scoped("ask the database far less than once each", () =>
    Effect.gen(function*() {
      const { id } = yield* newServer()
      const repo = yield* Effect.provide(GuestRequestsRepo, GuestRequestsRepo.Default)
      let asked = 0
      const counting = GuestRequestsRepo.make({
        ...repo,
        take: (wish) =>
          Effect.suspend(() => {
            asked++
            return repo.take(wish)
          })
      })
      const guests = yield* Effect.provide(
        GuestRequests,
        Layer.provide(GuestRequests.Default, Layer.succeed(GuestRequestsRepo, counting))
      )
      assert.strictEqual(yield* askInTurn(guests, host(id, 6_000), 900), 900)
      assert.isAtMost(asked, 25)
    }))

  it.scoped("that were taken ahead and not used go back to the share of the month", () =>
    Effect.gen(function*() {
      const { id } = yield* newServer()
      const guests = yield* gateway
      const sql = yield* SqlClient.SqlClient
      yield* askInTurn(guests, host(id), 20)
      const minuteBefore = sql`UPDATE guest_requests SET minute_start = minute_start - interval '2 minutes'`
      const count = Effect.map(
        sql<{ count: number }>`SELECT period_count::int AS count FROM guest_requests WHERE server_id = ${id}`,
        ([row]) => row!.count
      )
      assert.isAbove(yield* count, 20)
      yield* minuteBefore
      // Another limit ends what was taken under the one before.
      assert.strictEqual(yield* ask(guests, host(id, 61), 1), 1)
      assert.strictEqual(yield* count, 21)
    }))

  it.scoped("pass while the database can't be asked", () =>
    Effect.gen(function*() {
      const { id } = yield* newServer()
      const guests = yield* gateway
      const sql = yield* SqlClient.SqlClient
      yield* sql`ALTER TABLE guest_requests RENAME TO hidden`
      assert.strictEqual(yield* ask(guests, host(id), 100), 100)
      yield* sql`ALTER TABLE hidden RENAME TO guest_requests`
    }))
})
