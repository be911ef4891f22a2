import { makeFileReader } from "#src/imports/file-reader.ts"
import { type Upload } from "#src/imports/Import.ts"
import { expect, it } from "@effect/vitest"
import { Effect, Logger } from "effect"

const lines: Upload = { filename: "a.csv", bytes: Buffer.from(`name,price\n${"Soup,5\n".repeat(900_000)}`) }

it.scopedLive.each(
  [
    ["time", { within: 1 }, /longer to read/],
    ["memory", { resourceLimits: { maxOldGenerationSizeMb: 4, maxYoungGenerationSizeMb: 1 } }, /more memory to read/],
    ["a thread that ends", { file: () => new URL("data:text/javascript,process.exit(3)") }, /could not be read/]
  ] as const
)(
  "a file that meets the end of its %s is refused as invalid, and says what to do",
  ([, options, message]) =>
    Effect.gen(function*() {
      const read = yield* makeFileReader(options)
      const refusal = yield* Effect.flip(read(lines))
      expect([refusal._tag, refusal.message]).toEqual(["Invalid", expect.stringMatching(message)])
    }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))
)
