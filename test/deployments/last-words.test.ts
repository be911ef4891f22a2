import { lastWords } from "#src/deployments/last-words.ts"
import { type MachineLine, Machines } from "#src/machines/Machines.ts"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"

const unused = () => Effect.die("not to be called")

/** A machine that has exited: its output goes on, and says nothing more. */
const saying = (lines: ReadonlyArray<readonly [stream: MachineLine["stream"], text: string]>) =>
  Machines.of({
    driver: { name: "fake", tier: "none" },
    guarantees: Effect.succeed({ enforces: [], lacks: [] }),
    serveAuth: unused,
    serveEgress: unused,
    provision: unused,
    start: unused,
    stop: unused,
    destroy: unused,
    inspect: unused,
    listening: unused,
    list: unused,
    runs: unused,
    connections: unused,
    output: () =>
      Stream.concat(
        Stream.fromIterable(lines.map(([stream, text], offset) => ({ offset, stream, text }))),
        Stream.never
      )
  })

const cases: ReadonlyArray<readonly [string, Parameters<typeof saying>[0], string]> = [
  ["nothing where there is none", [], ""],
  ["nothing of what went well", [["stdout", "listening"]], ""],
  ["the last failure, not what came after it", [
    ["stderr", "Error: first"],
    ["stderr", "  TypeError: second  "],
    ["stderr", "    at main (/app/server.js:1:1)"],
    ["stderr", ""],
    ["stderr", "Node.js v20.11.0"],
    ["stdout", "bye"]
  ], "TypeError: second"],
  ["else the last line on stderr", [["stderr", "a"], ["stderr", "b"], ["stdout", "c"]], "b"],
  ["what runc means, without its own trimmings", [
    [
      "stderr",
      String
        .raw`time="2026-11-21T06:57:26Z" level=error msg="runc run failed: unable to start container process: exec: \"/nope\": stat /nope: no such file or directory"`
    ]
  ], "exec: \"/nope\": stat /nope: no such file or directory"],
  [
    "what only looks like runc's as it is",
    [["stderr", String.raw`level=error msg="\x"`]],
    String.raw`level=error msg="\x"`
  ]
]

describe("the last words of a machine are", () => {
  for (const [what, lines, expected] of cases) {
    it.live(what, () => Effect.map(lastWords(saying(lines), "m"), (words) => assert.strictEqual(words, expected)))
  }
})
