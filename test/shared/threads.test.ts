import { threads } from "#src/shared/threads.ts"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"

const thread = (onMessage: string) => () =>
  new URL(`data:text/javascript,${
    encodeURIComponent(`
      import { parentPort } from "node:worker_threads"
      parentPort.on("message", (task) => { ${onMessage} })`)
  }`)

const replies = `if (task === "good") return parentPort.postMessage({ ok: "done" });`

it.scopedLive.each<[string, string, string, RegExp]>([
  ["throws", "throw new Error('broken')", "crash", /broken/],
  ["ends", "process.exit(3)", "crash", /code 3/],
  ["answers with an error", "parentPort.postMessage({ error: 'no such file' })", "crash", /no such file/],
  ["does not end", "for (;;) {}", "time", /0.5 seconds/],
  ["takes more memory than it has", "const all = []; for (;;) all.push([all.length])", "memory", /memory/]
])(
  "a task whose thread %s fails, and the next one is done by another",
  ([, work, reason, detail]) =>
    Effect.gen(function*() {
      const ask = yield* threads<string, string>({
        file: thread(`${replies} ${work}`),
        threads: 1,
        within: reason === "time" ? 500 : 30_000,
        resourceLimits: { maxOldGenerationSizeMb: 16 }
      })
      expect(yield* ask("good")).toBe("done")
      const failure = yield* Effect.flip(ask("bad"))
      expect([failure.reason, failure.detail]).toEqual([reason, expect.stringMatching(detail)])
      expect(yield* ask("good")).toBe("done")
    })
)

it.scopedLive("tasks beyond the threads wait for one", () =>
  Effect.gen(function*() {
    const ask = yield* threads<string, string>({ file: thread(replies), threads: 1 })
    const all = yield* Effect.all(Array.from({ length: 5 }, () => ask("good")), { concurrency: "unbounded" })
    expect(all).toEqual(Array(5).fill("done"))
  }))
