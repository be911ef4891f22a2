import { makeApi } from "#src/cli/hosting/api.ts"
import { follow } from "#src/cli/hosting/follow.ts"
import { type Deployment } from "#src/deployments/Deployment.ts"
import { newId } from "#src/shared/ids.ts"
import { HttpClient, HttpClientError, HttpClientResponse } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Console, Effect, Fiber, TestClock } from "effect"

const url = "http://berth.example"

const underWay = {
  id: newId("dep"),
  serverId: newId("srv"),
  status: "building",
  imageUri: "registry.example.com/a:1",
  version: 1,
  type: "deploy",
  active: false,
  imageDigest: null,
  args: null,
  command: null,
  transport: null,
  processes: null,
  packageScripts: false,
  node: null,
  freshDependencies: false,
  package: null,
  trivyScanResult: null,
  admittedBy: null,
  progress: "pulling",
  createdAt: "2026-01-01T00:00:00.000Z",
  deployedAt: null,
  mcp: null
}
const begun = { ...underWay, createdAt: new Date(underWay.createdAt) } as unknown as Deployment

type Answer = readonly [status: number, body: unknown, headers?: Record<string, string>]
const goesOn: Answer = [200, { data: underWay }]
const ended: Answer = [200, { data: { ...underWay, status: "running", progress: null } }]
const refused = (status: number, headers = {}): Answer => [status, { error: { code: "X", message: "no" } }, headers]

/** Follows on a clock of the test's; `answers` says what a request is answered with, or that nothing answers it. */
const following = (answers: (count: number) => Answer | undefined) =>
  Effect.gen(function*() {
    const asked: Array<number> = []
    const told: Array<unknown> = []
    const client = HttpClient.make((request) =>
      Effect.gen(function*() {
        asked.push(yield* Clock.currentTimeMillis)
        const answer = answers(asked.length)
        if (answer === undefined) return yield* new HttpClientError.RequestError({ request, reason: "Transport" })
        const [status, body, headers] = answer
        return HttpClientResponse.fromWeb(
          request,
          new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } })
        )
      })
    )
    const api = yield* makeApi(url, Effect.succeed("svc_sess_x")).pipe(
      Effect.provideService(HttpClient.HttpClient, client)
    )
    const console = yield* Console.consoleWith(Effect.succeed)
    const fiber = yield* follow({ api, root: url, bearer: Effect.succeed("svc_sess_x") }, begun).pipe(
      Effect.withConsole({ ...console, error: (line: unknown) => Effect.sync(() => void told.push(line)) }),
      Effect.either,
      Effect.fork
    )
    // Answers are read by promises, which a clock of a test's does not wait for.
    const pass = Effect.fnUntraced(function*(seconds: number) {
      for (let tick = 0; tick < seconds * 2.5; tick++) {
        yield* TestClock.adjust("400 millis")
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      }
    })
    return { asked, told, fiber, pass }
  })

describe("a followed deployment", () => {
  it.effect("is asked for less often as it takes longer, within what a plan allows a minute", () =>
    Effect.gen(function*() {
      const { asked, fiber, pass, told } = yield* following(() => goesOn)
      yield* pass(40)
      assert.isBelow(asked.length, 50)
      assert.isAbove(asked.filter((at) => at < 10_000).length, 15)
      assert.isAbove(asked.filter((at) => at >= 30_000).length, 1)
      yield* Fiber.interrupt(fiber)
      const told1 =
        `The deployment ${begun.id} goes on without this command; berth status --server ${begun.serverId} ` +
        "tells its end"
      assert.deepStrictEqual(told, ["pulling", told1])
    }))

  it.effect("outlasts refusals that pass, and asks again when Retry-After says", () =>
    Effect.gen(function*() {
      const answers = [
        refused(429, { "retry-after": "18" }),
        refused(502),
        refused(503, { "retry-after": "Thu, 01 Jan 2026 00:00:00 GMT" }),
        refused(504),
        undefined,
        ended
      ]
      const { asked, fiber, pass } = yield* following((count) => answers[count - 1])
      yield* pass(30)
      const end = yield* Fiber.join(fiber)
      assert.strictEqual(end._tag === "Right" ? end.right.status : end.left.message, "running")
      const [first = 0, ...rest] = asked
      assert.isAtLeast((rest[0] ?? 0) - first, 18_000)
      assert.strictEqual(asked.length, answers.length)
    }))

  it.effect("tells the reason of a wait once, until it is another", () =>
    Effect.gen(function*() {
      const waits = ["5 s: no answer", "10 s: no answer", "15 s: status 500", "20 s: status 500"]
      const { fiber, pass, told } = yield* following((count) => {
        const progress = waits[count - 1]
        return progress === undefined
          ? ended
          : [200, { data: { ...underWay, progress: `Still waiting after ${progress}` } }]
      })
      yield* pass(5)
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(told, [
        "pulling",
        "Still waiting after 5 s: no answer",
        "Still waiting after 10 s",
        "Still waiting after 15 s: status 500",
        "Still waiting after 20 s"
      ])
    }))

  it.effect("is said to go on where the command ends before it", () =>
    Effect.gen(function*() {
      const { fiber, pass } = yield* following(() => refused(401))
      yield* pass(2)
      const end = yield* Fiber.join(fiber)
      assert.isTrue(end._tag === "Left" && end.left.code === 3)
      if (end._tag === "Left") {
        assert.match(end.left.message, /^no\. Log in again: .*\nThe deployment dep_\w+ goes on .*--server srv_\w+/)
      }
    }))
})
