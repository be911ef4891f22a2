import { ServersRepo } from "#src/servers/ServersRepo.ts"
import { ServerStates } from "#src/servers/ServerStates.ts"
import {
  events,
  fromSleep,
  mayHappen,
  rules,
  type ServerEvent,
  type Status,
  statuses
} from "#src/servers/transitions.ts"
import { SqlClient } from "@effect/sql"
import { layer } from "@effect/vitest"
import { Effect, FastCheck, Layer, Option } from "effect"
import { assert, describe, it } from "vitest"
import { DatabaseTest } from "../support/Database.ts"

const event = FastCheck.constantFrom(...events)
const status = FastCheck.constantFrom(...statuses)
const after = (before: Status, happened: ServerEvent): Status =>
  mayHappen(happened, before) ? rules[happened].to : before

const ofDeployments = events.filter((name) => name.startsWith("deployment"))
const ofOwner = ["started", "startFailed", "stopped"] satisfies ReadonlyArray<ServerEvent>
const ofIdleness = ["fellAsleep", ...fromSleep]
const ofWatch = events.filter((name) => ![...ofDeployments, ...ofOwner, ...ofIdleness].includes(name))

describe("the states of a server", () => {
  it("can each be come to, and left, by a deployment, a request or the watch", () => {
    for (const name of statuses) {
      assert.isTrue(events.some((one) => rules[one].to === name), `to ${name}`)
      assert.isTrue(events.some((one) => after(name, one) !== name), `from ${name}`)
    }
  })

  it("follow from the last deployment or request, whatever the watch saw before it", () => {
    const decides = FastCheck.constantFrom(...ofOwner, "deploymentServes" as const, "deploymentFailed" as const)
    FastCheck.assert(FastCheck.property(status, FastCheck.array(event), decides, (first, happened, last) => {
      assert.strictEqual(after(happened.reduce(after, first), last), rules[last].to)
    }))
  })

  it("a stopped server stays so, whatever the watch sees, until it is deployed to or started", () => {
    FastCheck.assert(FastCheck.property(FastCheck.array(FastCheck.constantFrom(...ofWatch)), (seen) => {
      assert.strictEqual(seen.reduce(after, "stopped" as Status), "stopped")
    }))
  })

  it("only the owner's word and idleness stop a server", () => {
    assert.deepStrictEqual(events.filter((name) => rules[name].to === "stopped"), ["stopped", "fellAsleep"])
  })
})

const states = Layer.provide(ServerStates.Default, ServersRepo.Default).pipe(Layer.provideMerge(DatabaseTest))

layer(states, { excludeTestServices: true, timeout: 60_000 })("the stored state of a server", (it) => {
  const made = Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* sql`INSERT INTO users (id, email, password_hash) VALUES ('u', 'u@example.com', '') ON CONFLICT DO NOTHING`
    yield* sql`INSERT INTO projects (id, account_id, name, slug) VALUES ('p', 'u', 'P', 'p') ON CONFLICT DO NOTHING`
    yield* sql`INSERT INTO slugs (slug, account_id) VALUES ('s', 'u') ON CONFLICT DO NOTHING`
    yield* sql`DELETE FROM servers`
    yield* sql`INSERT INTO servers (id, project_id, name, slug, region, cpu, memory_mb, health_path,
        health_timeout_seconds, rollback_on_health_check_failure, deployment_retention_count, replay_token, generation)
      VALUES ('srv', 'p', 'S', 's', 'ord', 'shared-1x', 256, '/', 30, true, 10, 't', 7)`
    yield* sql`INSERT INTO deployments (id, server_id, version, type, image_uri) VALUES ('dep', 'srv', 1, 'deploy', 'i')`
  })
  const stored = Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      Effect.map(
        sql<{ status: Status; generation: number; activeDeploymentId: string | null }>`
      SELECT status, generation, active_deployment_id FROM servers`,
        ([row]) => row
      )
  )

  const bring = (happened: ServerEvent, generation: number) =>
    Effect.flatMap(ServerStates, (states) =>
      happened === "deploymentBegun" || happened === "deploymentFailed"
        ? states[happened]("srv")
        : happened === "deploymentServes"
        ? states.deploymentServes("srv", "dep")
        : states.apply("srv", generation, happened))

  it.effect("follows the table, for each event in each state", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      for (const before of statuses) {
        for (const happened of events) {
          yield* made
          const sleeps = before === "stopped" && fromSleep.includes(happened)
          yield* sql`UPDATE servers SET status = ${before}, asleep_at = ${sleeps ? sql`now()` : sql`NULL`}`
          const row = yield* bring(happened, 7)
          const what = `${happened} when ${before}`
          const swapped = happened === "deploymentServes"
          assert.strictEqual(Option.isSome(row), mayHappen(happened, before), what)
          assert.deepStrictEqual(yield* stored, {
            status: after(before, happened),
            generation: swapped ? 8 : 7,
            activeDeploymentId: swapped ? "dep" : null
          }, what)
        }
      }
    }))

  it.effect("sleeps only until anything but idleness decides, and is not woken when it was stopped by hand", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const asleep = Effect.map(sql`SELECT asleep_at FROM servers`, ([row]) => row?.["asleepAt"] !== null)
      for (const happened of events) {
        yield* made
        yield* sql`UPDATE servers SET status = 'running'`
        yield* bring("fellAsleep", 7)
        assert.isTrue(yield* asleep)
        const changed = Option.isSome(yield* bring(happened, 7))
        assert.strictEqual(changed, mayHappen(happened, "stopped"), happened)
        assert.strictEqual(yield* asleep, !changed, happened)
      }
      for (const happened of fromSleep) {
        yield* made
        yield* sql`UPDATE servers SET status = 'stopped'`
        assert.isTrue(Option.isNone(yield* bring(happened, 7)), happened)
      }
    }))

  it.effect("is left alone by what was decided before another deployment, and by one that begins beside what serves", () =>
    Effect.gen(function*() {
      yield* made
      yield* bring("deploymentServes", 7)
      const serving = yield* stored
      for (const happened of [...ofOwner, ...ofWatch]) assert.isTrue(Option.isNone(yield* bring(happened, 7)), happened)
      assert.isTrue(Option.isNone(yield* bring("deploymentBegun", 8)))
      assert.deepStrictEqual(yield* stored, serving)
    }))
})
