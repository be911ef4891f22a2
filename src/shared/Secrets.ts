import { parseSecretKey } from "#src/config/secret-key.ts"
import { CurrentSettings, SettingError } from "#src/config/Settings.ts"
import { Data, Effect, Option, Redacted } from "effect"
import { existsSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import * as envelope from "./encryption.ts"
import { makeKeyOnce } from "./write-once.ts"

/** A sealed value can't be opened. The message says what to set and reveals nothing of the value. */
export class SecretError extends Data.TaggedError("SecretError")<{
  readonly reason: "UnknownKey" | "Corrupt"
  readonly message: string
}> {}

const keyFrom = (name: string, text: string) => {
  const bytes = parseSecretKey(text)
  return bytes === undefined
    ? new SettingError({ message: `${name} must hold 32 bytes in base64: restore it, or set SECRET_KEY` })
    : Effect.succeed(envelope.sealingKey(bytes))
}

const fromSetting = (name: string, text: Option.Option<Redacted.Redacted>) =>
  Effect.transposeOption(Option.map(text, (text) => keyFrom(name, Redacted.value(text))))

const keyFile = (home: string) => join(home, "secret.key")

/** The key below the home: made if absent when it is the one that seals, else read if it exists. */
const fromHome = Effect.fn("Secrets.fromHome")(function*(home: string, make: boolean) {
  const path = keyFile(home)
  const { isNew, text } = yield* Effect.try({
    try: () => ({
      isNew: make && makeKeyOnce(path),
      text: existsSync(path) ? Option.some(readFileSync(path, "utf8")) : Option.none()
    }),
    catch: (cause) => new SettingError({ message: `The secret key ${path} can't be used: ${cause}` })
  })
  return { isNew, key: yield* Effect.transposeOption(Option.map(text, (text) => keyFrom(path, text))) }
})

const corrupt = new SecretError({
  reason: "Corrupt",
  message: "A sealed value was altered, or belongs to another record: restore the database from a backup"
})

/**
 * Envelope encryption (AES-256-GCM): a random data key for each value, wrapped by the key of `SECRET_KEY`, or by
 * the one made in `{home}/secret.key`. A value opens only with the context it was sealed for.
 */
export class Secrets extends Effect.Service<Secrets>()("shared/Secrets", {
  effect: Effect.gen(function*() {
    const settings = yield* CurrentSettings
    const configured = yield* fromSetting("SECRET_KEY", settings.secretKey)
    const previous = yield* fromSetting("SECRET_KEY_PREVIOUS", settings.secretKeyPrevious)
    // A key made before SECRET_KEY was set still opens what it sealed.
    const { isNew, key: generated } = yield* fromHome(settings.home, Option.isNone(configured))
    const current = Option.getOrThrow(Option.orElse(configured, () => generated))
    const keys = new Map([previous, generated, configured].flatMap(Option.toArray).map((key) => [key.id, key]))

    const keyOf = (sealed: string) => {
      const parts = envelope.parse(sealed)
      if (parts === undefined) return corrupt
      const key = keys.get(parts.keyId)
      return key === undefined
        ? new SecretError({
          reason: "UnknownKey",
          message: `A value was sealed with the key ${parts.keyId}, which is not known: set SECRET_KEY_PREVIOUS to it`
        })
        : Effect.succeed(key)
    }
    const orCorrupt = (result: string | undefined) => result === undefined ? corrupt : Effect.succeed(result)

    return {
      /** Id of the key that seals now: 8 hex digits. */
      keyId: current.id,
      /** Where that key comes from: the setting, or the file below the home. */
      keySource: Option.isSome(configured) ? "SECRET_KEY" : keyFile(settings.home),
      /** Whether this process made that key. */
      isNew,
      /** Removes the key that this process made, because it can't be used: it has sealed nothing. */
      forgetNew: Effect.sync(() => isNew && rmSync(keyFile(settings.home), { force: true })),
      /** Every available key, the one that seals first. */
      keyIds: [current.id, ...[...keys.keys()].filter((id) => id !== current.id)],
      /** `context` names the record and the field; the value opens only with it. The result is ASCII text. */
      seal: (plain: string | Redacted.Redacted, context: string) =>
        Effect.sync(() => envelope.seal(current, Redacted.isRedacted(plain) ? Redacted.value(plain) : plain, context)),
      open: (sealed: string, context: string) =>
        Effect.flatMap(keyOf(sealed), (key) => orCorrupt(envelope.open(key, sealed, context))),
      /**
       * For a text that must be recognised but never read: without the key it can't be guessed from the fingerprint.
       */
      fingerprint: (text: string) => envelope.fingerprint(current, text),
      /** Whether a fingerprint is the text's, under any of the keys. */
      isFingerprint: (print: Uint8Array, text: string) =>
        [...keys.values()].some((key) => envelope.fingerprint(key, text).equals(print)),
      /** Whether a key other than the current one sealed it. */
      needsRewrap: (sealed: string) => envelope.parse(sealed)?.keyId !== current.id,
      /** The same value under the current key; the value itself is not decrypted. */
      rewrap: (sealed: string) =>
        Effect.flatMap(
          keyOf(sealed),
          (key) => key.id === current.id ? Effect.succeed(sealed) : orCorrupt(envelope.rewrap(key, current, sealed))
        )
    } as const
  })
}) {}
