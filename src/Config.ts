import { Config, Context, Data, Effect, Layer, type LogLevel, Option, Redacted } from "effect"
import { isAbsolute, resolve } from "node:path"
import { parseSecretKey } from "./shared/secret-key.ts"

/** A setting is missing or wrong. The message is one sentence that names it; the start stops with it. */
export class SettingError extends Data.TaggedError("SettingError")<{ readonly message: string }> {}

const url = (name: string) =>
  Config.string(name).pipe(Config.mapAttempt((text) => {
    const parsed = new URL(text)
    if (!/^https?:$/.test(parsed.protocol)) throw new Error("not http or https")
    return parsed.href.replace(/\/$/, "")
  }))

const list = (name: string) =>
  Config.string(name).pipe(
    Config.map((text) => text.split(",").map((item) => item.trim()).filter((item) => item !== "")),
    Config.withDefault([] as ReadonlyArray<string>)
  )

const domain = Config.string("MCP_DOMAIN").pipe(
  Config.mapAttempt((text) => {
    const name = text.toLowerCase()
    if (!/^(?!-)[a-z0-9.-]+(:\d+)?$/.test(name)) throw new Error("not a domain name")
    return name
  }),
  Config.option
)

const settings = Config.all({
  production: Config.string("NODE_ENV").pipe(Config.map((v) => v === "production"), Config.withDefault(false)),
  port: Config.port("PORT").pipe(Config.withDefault(8787)),
  host: Config.nonEmptyString("HOST").pipe(Config.withDefault("127.0.0.1")),
  baseUrl: Config.option(url("BASE_URL")),
  hubUrl: Config.option(url("HUB_URL")),
  authUrl: Config.option(url("AUTH_URL")),
  mcpDomain: domain,
  home: Config.nonEmptyString("BERTH_HOME").pipe(Config.withDefault(".berth")),
  databaseUrl: Config.option(Config.redacted("DATABASE_URL")),
  redisUrl: Config.option(Config.redacted("REDIS_URL")),
  secretKey: Config.option(Config.redacted("SECRET_KEY")),
  secretKeyPrevious: Config.option(Config.redacted("SECRET_KEY_PREVIOUS")),
  computeDriver: Config.literal("auto", "sandbox")("COMPUTE_DRIVER").pipe(Config.withDefault("auto" as const)),
  sandboxTier: Config.literal("auto", "runc", "bubblewrap", "util-linux")("SANDBOX_TIER").pipe(
    Config.withDefault("auto" as const)
  ),
  trustProxy: Config.integer("TRUST_PROXY").pipe(
    Config.validate({ message: "not a number of hops from 0 to 10", validation: (n) => n >= 0 && n <= 10 }),
    Config.withDefault(0)
  ),
  allowedOrigins: list("ALLOWED_ORIGINS"),
  allowedPrivateHosts: list("ALLOWED_PRIVATE_HOSTS"),
  logLevel: Config.logLevel("LOG_LEVEL").pipe(Config.option)
})

/** What every setting means is in the README's table; the defaults are those of a development machine. */
export interface Settings {
  readonly production: boolean
  readonly port: number
  readonly host: string
  /** Root of the platform API, no trailing slash. */
  readonly baseUrl: string
  readonly hubUrl: string
  readonly authUrl: string
  /** Parent domain of hosted servers, lower case, a port allowed. */
  readonly mcpDomain: string
  /** Whether `MCP_DOMAIN` was set: decides which public form `SVC_MCP_PUBLIC_URL` takes. */
  readonly mcpDomainExplicit: boolean
  /** Absolute path below which the embedded database, images, machines and the made key live. */
  readonly home: string
  readonly databaseUrl: Option.Option<Redacted.Redacted>
  readonly redisUrl: Option.Option<Redacted.Redacted>
  readonly secretKey: Option.Option<Redacted.Redacted>
  readonly secretKeyPrevious: Option.Option<Redacted.Redacted>
  readonly computeDriver: "auto" | "sandbox"
  readonly sandboxTier: "auto" | "runc" | "bubblewrap" | "util-linux"
  /** Number of proxies in front whose `X-Forwarded-For` entries count; 0 is none. */
  readonly trustProxy: number
  readonly allowedOrigins: ReadonlyArray<string>
  /** `host` or `host:port` names that the guarded client may reach although they are private. */
  readonly allowedPrivateHosts: ReadonlyArray<string>
  readonly logLevel: Option.Option<LogLevel.LogLevel>
}

export class CurrentSettings extends Context.Tag("berth/Settings")<CurrentSettings, Settings>() {}

const checkKey = (name: string, key: Option.Option<Redacted.Redacted>) =>
  Option.isSome(key) && parseSecretKey(Redacted.value(key.value)) === undefined
    ? new SettingError({ message: `${name} must be 32 bytes in base64 (make one with: openssl rand -base64 32)` })
    : Effect.void

const read = Effect.gen(function*() {
  const raw = yield* settings
  yield* checkKey("SECRET_KEY", raw.secretKey)
  yield* checkKey("SECRET_KEY_PREVIOUS", raw.secretKeyPrevious)
  if (raw.production && Option.isNone(raw.secretKey)) {
    return yield* new SettingError({ message: "SECRET_KEY is required when NODE_ENV=production" })
  }
  const baseUrl = Option.getOrElse(raw.baseUrl, () => `http://localhost:${raw.port}`)
  return {
    ...raw,
    baseUrl,
    hubUrl: Option.getOrElse(raw.hubUrl, () => baseUrl),
    authUrl: Option.getOrElse(raw.authUrl, () => baseUrl),
    mcpDomain: Option.getOrElse(raw.mcpDomain, () => "mcp.localhost"),
    mcpDomainExplicit: Option.isSome(raw.mcpDomain),
    home: isAbsolute(raw.home) ? raw.home : resolve(raw.home)
  } satisfies Settings
})

/** Reads the process environment once; the only place that does. */
export const SettingsLive: Layer.Layer<CurrentSettings, SettingError> = Layer.effect(
  CurrentSettings,
  Effect.catchTag(
    Effect.catchAll(read, (error) =>
      error._tag === "SettingError"
        ? Effect.fail(error)
        : new SettingError({ message: `A setting is wrong: ${String(error)}` })),
    "SettingError",
    Effect.fail
  )
)
