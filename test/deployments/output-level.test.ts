import { levelOf } from "#src/deployments/output-level.ts"
import { FastCheck as fc } from "effect"
import { assert, describe, it } from "vitest"

const onStdout = (text: string) => levelOf({ stream: "stdout", text })
const onStderr = (text: string) => levelOf({ stream: "stderr", text })

/** What loggers write, by the level it is to have. */
const lines = {
  debug: [
    "DEBUG opening the pool",
    "DEBUG:asyncio:Using selector: EpollSelector",
    "[debug] cache miss",
    "time=2026-11-22T06:55:35.000Z level=DEBUG msg=\"opened\"",
    "D, [2026-11-22T06:55:35.123456 #1] DEBUG -- : opened",
    "{\"level\":20,\"msg\":\"opened\"}"
  ],
  info: [
    "INFO:     Started server process [1]",
    "info: listening on 8080",
    "2026-11-22 06:55:35,123 - app.web - INFO - an error was handled",
    "I1122 06:55:35.000000       1 main.go:10] no error",
    "level=info msg=\"use level=debug to see more\" error=none",
    "[06:55:35 INF] Now listening"
  ],
  warn: [
    "WARN disk is getting full",
    "WARNING: this is a development server",
    "WARNING:urllib3.connectionpool:Retrying",
    "[warn] deprecated",
    "[WARN] deprecated",
    "<warning> deprecated",
    "Warning: validateDOMNesting",
    "level=warn msg=slow",
    "time=\"2026-11-22T06:55:35Z\" level=\"warning\" msg=\"slow\"",
    "ts=2026-11-22T06:55:35Z caller=main.go:10 level=warn msg=slow",
    "2026-11-22 06:55:35.123  WARN 1 --- [main] o.s.boot : slow",
    "2026-11-22 06:55:35,123 - my.name - WARNING - slow",
    "2026-11-22T06:55:35.123Z WARN crate: slow",
    "2026/11/22 06:55:35 [warn] 12#0: slow",
    "W1122 06:55:35.000000       1 main.go:10] slow",
    "[06:55:35 WRN] slow"
  ],
  error: [
    "ERROR boom",
    "ERROR: boom",
    "ERROR:root:boom",
    "ERROR",
    "error: boom",
    "Error: boom",
    "[error] boom",
    "[ERROR] boom",
    "(error) boom",
    "FATAL: the database system is starting up",
    "CRITICAL:app:boom",
    "SEVERE: boom",
    "panic: runtime error: index out of range",
    "level=error msg=boom",
    "time=2026-11-22T06:55:35Z level=error msg=boom",
    "time=2026-11-22T06:55:35Z msg=\"level=info is a \\\"word\\\"\" level=error",
    "2026-11-22 06:55:35 level=fatal msg=boom",
    "2026-11-22T06:55:35+00:00 ERROR boom",
    "[2026-11-22 06:55:35] ERROR boom",
    "[2026-11-22T06:55:35Z ERROR crate] boom",
    "2026-11-22 06:55:35,123 [main] ERROR com.example.App - boom",
    "2026-11-22 06:55:35,123 - root - CRITICAL - boom",
    "06:55:35.123 ERROR boom",
    "E1122 06:55:35.000000       1 main.go:10] boom",
    "F1122 06:55:35.000000       1 main.go:10] boom",
    "E, [2026-11-22T06:55:35.123456 #1] ERROR -- : boom",
    "\u001b[31mERROR\u001b[0m boom",
    "  ERROR boom",
    "{\"severity\":\"CRITICAL\",\"message\":\"boom\"}",
    "{\"level\":50,\"msg\":\"boom\"}"
  ]
} as const

/** What only speaks of levels. */
const talk = [
  "no errors found",
  "0 errors, 2 warnings",
  "error handling is on",
  "Errors: 0",
  "ERROR-free since 2020",
  "ERRORS 0",
  "warning lights are off",
  "the response had level=error in it",
  "all fine (error: none)",
  "Info desk opened",
  "I am here",
  "E = mc2",
  "E1122 is a food additive",
  "debugging",
  "2026-11-22 06:55:35 reopened after an error",
  "main - ERROR - is what Python would write after a time",
  "GET /?level=error 200",
  "leveling=error",
  "",
  "{}",
  "{\"message\":\"ERROR\"}"
]

describe("the level of a line that a machine writes", () => {
  it("is the line's own where it begins with one, on either stream", () => {
    for (const [level, texts] of Object.entries(lines)) {
      for (const text of texts) {
        assert.deepEqual([text, onStdout(text), onStderr(text)], [text, level, level])
      }
    }
  })

  it("is info for what only speaks of levels", () => {
    for (const text of talk) assert.deepEqual([text, onStdout(text)], [text, "info"])
  })

  it("is guessed on stderr: error when it reads like one, else warn", () => {
    assert.strictEqual(onStderr("Traceback (most recent call last):"), "error")
    assert.strictEqual(onStderr("TypeError: x is not a function"), "error")
    assert.strictEqual(onStderr("(node:1) something"), "warn")
  })

  it("does not depend on what follows the level", () => {
    fc.assert(fc.property(fc.string(), fc.constantFrom("ERROR", "[error]", "level=error"), (rest, mark) => {
      assert.strictEqual(onStdout(`${mark} ${rest}`), "error")
    }))
  })

  it("is info on stdout for any text that begins with an ordinary word, whatever the words after it", () => {
    const word = fc.constantFrom("error", "ERROR", "[warn]", "level=error", "fatal:", "ok", "WARNING:root:x")
    fc.assert(fc.property(fc.constantFrom("the", "Finished", "We", "GET", "12"), fc.array(word), (first, words) => {
      assert.strictEqual(onStdout([first, ...words].join(" ")), "info")
    }))
  })

  it("is found quickly in a line of any length", () => {
    const started = performance.now()
    for (const part of ["=", "a=", "a=\"", "\\\"", " ", "[", "-", "2026-", "\u001b["]) {
      assert.strictEqual(onStdout(`x=${part.repeat(500_000)}`), "info")
      levelOf({ stream: "stderr", text: part.repeat(500_000) })
    }
    assert.isBelow(performance.now() - started, 2_000)
  })
})
