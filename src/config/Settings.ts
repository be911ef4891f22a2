import { Context, Effect, Layer, LogLevel, Option, type Redacted } from "effect"
import { resolve } from "node:path"
import { kinds, oneOf, setting, SettingError, settingOr, settings } from "./read-setting.ts"

export { SettingError } from "./read-setting.ts"

/** What every setting means is in docs/operate.md; the defaults are those of a development machine. */
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
  /** Bytes that stay free on the disk of `home`; 0 reserves none. */
  readonly diskReserve: number
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
  /** The image of the ready server, where it was pushed to; made below the home without it, in development. */
  readonly readyImage: Option.Option<string>
  /** Twilio-shaped: user, password and `From` in the URL. Codes go to the log without it. */
  readonly smsUrl: Option.Option<Redacted.Redacted>
  /** Text messages of the whole installation in 24 hours. */
  readonly smsDailyLimit: number
  /** Calling codes (`+1`) of the numbers that messages go to; empty is all. */
  readonly smsCountries: ReadonlyArray<string>
  readonly logLevel: LogLevel.LogLevel
  /** Whether each request has a line in the log. */
  readonly accessLog: boolean
  /** Where traces and metrics go, by OTLP over HTTP, no trailing slash. */
  readonly otlpEndpoint: Option.Option<string>
  /** How long requests, machines and the database together have for an orderly end. */
  readonly shutdownSeconds: number
}

export class CurrentSettings extends Context.Tag("berth/Settings")<CurrentSettings, Settings>() {}

/** One after the other: the first that is wrong is told. */
const read = Effect.gen(function*() {
  // A misspelt "production" must not start with the defaults of development.
  const environment = yield* settingOr("NODE_ENV", oneOf("production", "development", "test"), "development")
  const production = environment === "production"
  const port = yield* settingOr("PORT", kinds.port, 8787)
  const baseUrl = yield* settingOr("BASE_URL", kinds.url, `http://localhost:${port}`)
  const mcpDomain = yield* setting("MCP_DOMAIN", kinds.domain)
  const secretKey = yield* setting("SECRET_KEY", kinds.secretKey)
  if (production && Option.isNone(secretKey)) {
    return yield* new SettingError({ message: "SECRET_KEY is required when NODE_ENV=production" })
  }
  return {
    production,
    port,
    host: yield* settingOr("HOST", kinds.host, "127.0.0.1"),
    baseUrl,
    hubUrl: yield* settingOr("HUB_URL", kinds.url, baseUrl),
    authUrl: yield* settingOr("AUTH_URL", kinds.url, baseUrl),
    mcpDomain: Option.getOrElse(mcpDomain, () => "mcp.localhost"),
    mcpDomainExplicit: Option.isSome(mcpDomain),
    home: resolve(yield* settingOr("BERTH_HOME", kinds.text, ".berth")),
    diskReserve: yield* settingOr("DISK_RESERVE", kinds.bytes, 1024 ** 3),
    databaseUrl: yield* setting("DATABASE_URL", kinds.databaseUrl),
    redisUrl: yield* setting("REDIS_URL", kinds.redisUrl),
    secretKey,
    secretKeyPrevious: yield* setting("SECRET_KEY_PREVIOUS", kinds.secretKey),
    computeDriver: yield* settingOr("COMPUTE_DRIVER", oneOf("auto", "sandbox"), "auto"),
    sandboxTier: yield* settingOr("SANDBOX_TIER", oneOf("auto", "runc", "bubblewrap", "util-linux"), "auto"),
    trustProxy: yield* settingOr("TRUST_PROXY", kinds.proxies, 0),
    allowedOrigins: yield* settings("ALLOWED_ORIGINS", kinds.origin),
    allowedPrivateHosts: yield* settings("ALLOWED_PRIVATE_HOSTS", kinds.privateHost),
    readyImage: yield* setting("READY_IMAGE", kinds.image),
    smsUrl: yield* setting("SMS_URL", kinds.smsUrl),
    smsDailyLimit: yield* settingOr("SMS_DAILY_LIMIT", kinds.count, 500),
    smsCountries: yield* settings("SMS_COUNTRIES", kinds.callingCode),
    logLevel: yield* settingOr("LOG_LEVEL", kinds.logLevel, LogLevel.Info),
    accessLog: (yield* settingOr("ACCESS_LOG", oneOf("on", "off"), "off")) === "on",
    otlpEndpoint: yield* setting("OTEL_EXPORTER_OTLP_ENDPOINT", kinds.url),
    shutdownSeconds: yield* settingOr("SHUTDOWN_SECONDS", kinds.seconds, 10)
  } satisfies Settings
})

/** Reads the process environment once; the only place that does. */
export const SettingsLive: Layer.Layer<CurrentSettings, SettingError> = Layer.effect(CurrentSettings, read)
