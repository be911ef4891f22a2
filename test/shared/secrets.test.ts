import { SettingError } from "#src/config/Settings.ts"
import { Secrets } from "#src/shared/Secrets.ts"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc, Layer, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { settingsTest, temporaryDirectory } from "../support/Settings.ts"

const key = () => randomBytes(32).toString("base64")
const secrets = (variables: Readonly<Record<string, string>> = {}) =>
  Effect.provide(Secrets, Layer.provide(Secrets.Default, settingsTest(variables)))
const flipText = (sealed: string, at: number) =>
  `${sealed.slice(0, at)}${sealed[at] === "A" ? "B" : "A"}${sealed.slice(at + 1)}`

describe("sealing", () => {
  it.effect("opens what it sealed, whatever the text and the context, and never the same way twice", () =>
    Effect.gen(function*() {
      const { open, seal } = yield* secrets()
      const run = <A, E>(effect: Effect.Effect<A, E>) => Effect.runSync(effect)
      fc.assert(
        fc.property(fc.string({ unit: "grapheme" }), fc.string(), (text, context) => {
          const sealed = run(seal(text, context))
          assert.notStrictEqual(run(seal(text, context)), sealed)
          assert.match(sealed, /^v1\.[0-9a-f]{8}\.[\w-]+\.[\w-]+$/)
          assert.strictEqual(run(open(sealed, context)), text)
        }),
        { numRuns: 200 }
      )
    }))

  it.effect("takes a redacted value", () =>
    Effect.gen(function*() {
      const { open, seal } = yield* secrets()
      assert.strictEqual(yield* open(yield* seal(Redacted.make("s3cret"), "c"), "c"), "s3cret")
    }))

  it.effect("refuses a value that was moved to another context", () =>
    Effect.gen(function*() {
      const { open, seal } = yield* secrets()
      const error = yield* Effect.flip(open(yield* seal("a", "env srv_1 TOKEN"), "env srv_2 TOKEN"))
      assert.strictEqual(error.reason, "Corrupt")
    }))

  it.effect("refuses a value with any single character changed", () =>
    Effect.gen(function*() {
      const { open, seal } = yield* secrets()
      const sealed = yield* seal("the plain text", "c")
      for (let at = 0; at < sealed.length; at++) {
        // The last base64 character of a part may carry bits that decode to nothing.
        if (at === sealed.length - 1 || sealed[at + 1] === ".") continue
        const result = yield* Effect.either(open(flipText(sealed, at), "c"))
        assert.strictEqual(result._tag, "Left", `opened with character ${at} changed`)
      }
    }))

  it.effect("refuses text of any other form without crashing", () =>
    Effect.gen(function*() {
      const { keyId, open, rewrap } = yield* secrets()
      for (const text of ["", "v1", "v2.00000000.a.b", `v1.${keyId}.a.b`, `v1.${keyId}..`, "\0", "x".repeat(10_000)]) {
        assert.strictEqual((yield* Effect.flip(open(text, "c"))).reason, "Corrupt")
        yield* Effect.flip(open(text, ""))
        if (!text.startsWith(`v1.${keyId}.a`)) assert.strictEqual((yield* Effect.flip(rewrap(text))).reason, "Corrupt")
      }
    }))
})

describe("rotation", () => {
  it.effect("the previous key opens and never seals; rewrapping moves a value to the current one", () =>
    Effect.gen(function*() {
      const [old, fresh] = [key(), key()]
      const before = yield* secrets({ SECRET_KEY: old })
      const during = yield* secrets({ SECRET_KEY: fresh, SECRET_KEY_PREVIOUS: old })
      const after = yield* secrets({ SECRET_KEY: fresh })
      const sealed = yield* before.seal("value", "c")

      assert.strictEqual(yield* during.open(sealed, "c"), "value")
      assert.isTrue(during.needsRewrap(sealed))
      assert.isFalse(during.needsRewrap(yield* during.seal("other", "c")))

      const moved = yield* during.rewrap(sealed)
      assert.isFalse(during.needsRewrap(moved))
      assert.strictEqual(yield* during.rewrap(moved), moved)
      assert.strictEqual(moved.split(".")[3], sealed.split(".")[3], "the box itself is not touched")
      assert.strictEqual(yield* after.open(moved, "c"), "value")
      assert.strictEqual((yield* Effect.flip(after.open(moved, "d"))).reason, "Corrupt")
    }))

  it.effect("an unknown key is named, with the setting that helps", () =>
    Effect.gen(function*() {
      const before = yield* secrets({ SECRET_KEY: key() })
      const after = yield* secrets({ SECRET_KEY: key() })
      const sealed = yield* before.seal("value", "c")
      const error = yield* Effect.flip(after.open(sealed, "c"))
      assert.strictEqual(error.reason, "UnknownKey")
      assert.include(error.message, before.keyId)
      assert.include(error.message, "SECRET_KEY_PREVIOUS")
      assert.strictEqual((yield* Effect.flip(after.rewrap(sealed))).reason, "UnknownKey")
    }))
})

describe("the made key", () => {
  it.effect("is made once, closed to others, and found again", () =>
    Effect.gen(function*() {
      const home = join(temporaryDirectory(), "not", "there", "yet")
      const all = yield* Effect.all(Array.from({ length: 20 }, () => secrets({ BERTH_HOME: home })), {
        concurrency: "unbounded"
      })
      assert.strictEqual(new Set(all.map(({ keyId }) => keyId)).size, 1)
      assert.deepStrictEqual(readdirSync(home), ["secret.key"])
      assert.strictEqual(statSync(join(home, "secret.key")).mode & 0o777, 0o600)
      assert.strictEqual(Buffer.from(readFileSync(join(home, "secret.key"), "utf8"), "base64").length, 32)
    }))

  it.effect("is not made when SECRET_KEY is set, and still opens what it sealed before", () =>
    Effect.gen(function*() {
      const [one, two] = [temporaryDirectory(), temporaryDirectory()]
      yield* secrets({ BERTH_HOME: one, SECRET_KEY: key() })
      assert.isFalse(existsSync(join(one, "secret.key")))
      const sealed = yield* (yield* secrets({ BERTH_HOME: two })).seal("value", "c")
      const later = yield* secrets({ BERTH_HOME: two, SECRET_KEY: key() })
      assert.strictEqual(yield* later.open(sealed, "c"), "value")
      assert.isTrue(later.needsRewrap(sealed))
    }))

  it.effect("stops the start with a sentence when its file is broken or in the way", () =>
    Effect.gen(function*() {
      const [short, blocked] = [temporaryDirectory(), temporaryDirectory()]
      writeFileSync(join(short, "secret.key"), "short\n")
      mkdirSync(join(blocked, "secret.key"))
      for (const home of [short, blocked]) {
        const error = yield* Effect.flip(secrets({ BERTH_HOME: home }))
        assert.instanceOf(error, SettingError)
        assert.include(error.message, join(home, "secret.key"))
      }
    }))
})
