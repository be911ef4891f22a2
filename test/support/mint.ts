import { clientLayer } from "#sql/Client.ts"
import { AccessTokens, type MintRequest } from "#src/oauth/AccessTokens.ts"
import { SigningKeys } from "#src/oauth/SigningKeys.ts"
import { SigningKeysRepo } from "#src/oauth/SigningKeysRepo.ts"
import { Secrets } from "#src/shared/Secrets.ts"
import { Effect, Layer, Redacted } from "effect"
import { type Berth } from "./Berth.ts"
import { settingsTest } from "./Settings.ts"

/** For the platform and the minter alike: what seals the signing key. */
export const secretKey = { SECRET_KEY: Buffer.alloc(32, 7).toString("base64") } as const

/** The parts of the platform that know its signing keys, as another process beside it would run them. */
const keysOf = (berth: Berth) =>
  AccessTokens.Default.pipe(
    Layer.provideMerge(SigningKeys.Default),
    Layer.provide([SigningKeysRepo.Default, Secrets.Default]),
    Layer.provide(clientLayer(Redacted.make(berth.databaseUrl), 1)),
    Layer.provide(settingsTest({ BASE_URL: berth.url, ...secretKey }))
  )

/** An access token of a platform that was started with `secretKey`. */
export const mint = (berth: Berth, request: MintRequest): Promise<string> =>
  AccessTokens.pipe(
    Effect.flatMap((tokens) => tokens.mint(request)),
    Effect.map(({ token }) => token),
    Effect.provide(keysOf(berth)),
    Effect.runPromise
  )
