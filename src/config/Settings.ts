import { Context, Effect, Layer, LogLevel, Option, type Redacted } from "effect"
import { resolve } from "node:path"
import { type MirrorSettings, readMirror } from "./mirror.ts"
import { kinds, oneOf, setting, SettingError, settingOr, settings } from "./read-setting.ts"
import { readScanning, type ScanSettings } from "./scanning.ts"

export { SettingError } from "./read-setting.ts"

/** A bucket that holds stored files in place of the home. */
export interface S3Settings {
  readonly bucket: string
  /** What keys begin with: empty, or with a slash at its end. */
  readonly prefix: string
  /** Amazon's, unless set. */
  readonly endpoint: Option.Option<string>
  readonly region: string
  /** Without them the library looks where Amazon's programs do: variables, files, the instance's role. */
  readonly credentials: Option.Option<{ readonly id: string; readonly secret: Redacted.Redacted }>
}

/** Stripe, when it takes the payments. */
export interface StripeSettings {
  readonly secretKey: Redacted.Redacted
  readonly webhookSecret: Redacted.Redacted
  /** Ids of the prices of the paid plans. */
  readonly prices: Readonly<Record<"developer" | "pro" | "enterprise", string>>
  /** Another address than Stripe's, for tests. */
  readonly apiUrl: Option.Option<string>
}

/** What every setting means is in docs/operate.md; the defaults are those of a development machine. */
export interface Settings {
  readonly production: boolean
  readonly port: number
  readonly host: string
  /** Root of the platform API, no trailing slash. */
  readonly baseUrl: string
  /** Whether `BASE_URL` was set: the default is this process's own address. */
  readonly baseUrlExplicit: boolean
  readonly hubUrl: string
  readonly authUrl: string
  /** Parent domain of hosted servers, lower case, a port allowed. */
  readonly mcpDomain: string
  /** Whether `MCP_DOMAIN` was set: decides which public form `SVC_MCP_PUBLIC_URL` takes. */
  readonly mcpDomainExplicit: boolean
  /** Absolute path of the folder for the embedded database, images, machines and the generated key. */
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
  /** Allow-list of private `host` or `host:port` names that the guarded HTTP client may reach. */
  readonly allowedPrivateHosts: ReadonlyArray<string>
  /** Private `host` or `host:port` names that machines may reach whose server's egress names them. */
  readonly egressPrivateHosts: ReadonlyArray<string>
  /** Registry reference of the ready server's image; without it, in development, it is built below the home. */
  readonly readyImage: Option.Option<string>
  /** Where packages come from, no trailing slash. */
  readonly npmRegistry: string
  readonly pypiIndex: string
  /** The Node of machines of npm packages whose deployment names none; host: the one that runs this. */
  readonly packageNode: "20" | "22" | "24" | "host"
  /** How long the install scripts of a package may run. */
  readonly packageScriptsSeconds: number
  /** A file with certificates that Node trusts besides its own; installers of packages trust them too. */
  readonly extraCertificates: Option.Option<string>
  /** URL of a gateway with Twilio's interface, with user, password and `From`. Without it codes go to the log. */
  readonly smsUrl: Option.Option<Redacted.Redacted>
  /** How many text messages the whole installation may send in 24 hours. */
  readonly smsDailyLimit: number
  /** Allow-list of calling codes (`+1`) for messages; empty allows all. */
  readonly smsCountries: ReadonlyArray<string>
  /** Accounts that may be made from one IP address in an hour. */
  readonly signUpsPerHour: number
  /** Requests a minute that an IP address may send to the hub without a hub key. */
  readonly hubRateLimit: number
  /** Seconds that a composite waits for each of its members. */
  readonly compositeMemberSeconds: number
  /** The highest tier of hub keys that accounts may make. */
  readonly hubMaxTier: "explorer" | "builder" | "partner"
  /** Seconds between two health probes of a business's server. */
  readonly healthProbeSeconds: number
  /** The least that the MCP handshake with a new machine may take, in seconds. */
  readonly handshakeSeconds: number
  /** Seconds for which a machine that a deployment replaced stays for what is open there. */
  readonly drainSeconds: number
  /** How long a request waits for a sleeping server to wake, in seconds. */
  readonly wakeSeconds: number
  /** What looks for vulnerabilities in images, and what is refused. */
  readonly scanning: ScanSettings
  /** Where every deployed image is copied to; none: images are in the home alone. */
  readonly mirror: Option.Option<MirrorSettings>
  readonly s3: Option.Option<S3Settings>
  readonly stripe: Option.Option<StripeSettings>
  readonly logLevel: LogLevel.LogLevel
  /** Whether each request has a line in the log. */
  readonly accessLog: boolean
  /** Where traces and metrics go, by OTLP over HTTP, no trailing slash. */
  readonly otlpEndpoint: Option.Option<string>
  /** Where Prometheus reads metrics; none: nowhere. */
  readonly metricsPort: Option.Option<number>
  readonly metricsHost: string
  /** Time limit of a graceful shutdown: requests, machines and database together. */
  readonly shutdownSeconds: number
}

export class CurrentSettings extends Context.Tag("berth/Settings")<CurrentSettings, Settings>() {}

const readS3 = Effect.gen(function*() {
  const named = yield* setting("S3_BUCKET", kinds.bucket)
  const endpoint = yield* setting("S3_ENDPOINT", kinds.url)
  const region = yield* settingOr("S3_REGION", kinds.region, "us-east-1")
  const id = yield* setting("S3_ACCESS_KEY_ID", kinds.accessKey)
  const secret = yield* setting("S3_SECRET_ACCESS_KEY", kinds.accessSecret)
  if (Option.isSome(id) !== Option.isSome(secret)) {
    return yield* new SettingError({ message: "S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set together" })
  }
  if (Option.isNone(named) && (Option.isSome(endpoint) || Option.isSome(id))) {
    return yield* new SettingError({ message: "S3_BUCKET is required with the other settings of S3" })
  }
  const credentials = Option.all({ id, secret })
  return Option.map(named, (at): S3Settings => ({ ...at, endpoint, region, credentials }))
})

/** A plan is known by its price: of two with one price whoever pays for the dearer gets the other. */
const pricedAlike = (prices: Readonly<Record<string, Option.Option<string>>>) => {
  const seen = new Map<string, string>()
  for (const [plan, price] of Object.entries(prices)) {
    if (Option.isNone(price)) continue
    const [name, other] = [`STRIPE_PRICE_${plan.toUpperCase()}`, seen.get(price.value)]
    if (other !== undefined) {
      return `${other} and ${name} must be two prices, but both are ${JSON.stringify(price.value)}`
    }
    seen.set(price.value, name)
  }
  return undefined
}

const readStripe = Effect.gen(function*() {
  const secretKey = yield* setting("STRIPE_SECRET_KEY", kinds.stripeKey)
  const webhookSecret = yield* setting("STRIPE_WEBHOOK_SECRET", kinds.webhookSecret)
  const prices = {
    developer: yield* setting("STRIPE_PRICE_DEVELOPER", kinds.stripePrice),
    pro: yield* setting("STRIPE_PRICE_PRO", kinds.stripePrice),
    enterprise: yield* setting("STRIPE_PRICE_ENTERPRISE", kinds.stripePrice)
  }
  const apiUrl = yield* setting("STRIPE_API_URL", kinds.url)
  const together = {
    STRIPE_SECRET_KEY: Option.isSome(secretKey),
    STRIPE_WEBHOOK_SECRET: Option.isSome(webhookSecret),
    STRIPE_PRICE_DEVELOPER: Option.isSome(prices.developer),
    STRIPE_PRICE_PRO: Option.isSome(prices.pro),
    STRIPE_PRICE_ENTERPRISE: Option.isSome(prices.enterprise)
  }
  const names = (set: boolean) => Object.entries(together).flatMap(([name, isSet]) => isSet === set ? [name] : [])
  const [given, missing] = [names(true)[0] ?? (Option.isSome(apiUrl) ? "STRIPE_API_URL" : undefined), names(false)[0]]
  if (given !== undefined && missing !== undefined) {
    return yield* new SettingError({ message: `${missing} is required with ${given}` })
  }
  const twice = pricedAlike(prices)
  if (twice !== undefined) return yield* new SettingError({ message: twice })
  return Option.map(
    Option.all({ secretKey, webhookSecret, prices: Option.all(prices) }),
    (all): StripeSettings => ({ ...all, apiUrl })
  )
})

/** Reads sequentially and fails with the first invalid setting. */
const read = Effect.gen(function*() {
  // A misspelt "production" must not start with the defaults of development.
  const environment = yield* settingOr("NODE_ENV", oneOf("production", "development", "test"), "development")
  const production = environment === "production"
  const port = yield* settingOr("PORT", kinds.port, 8787)
  const givenUrl = yield* setting("BASE_URL", kinds.url)
  const baseUrl = Option.getOrElse(givenUrl, () => `http://localhost:${port}`)
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
    baseUrlExplicit: Option.isSome(givenUrl),
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
    egressPrivateHosts: yield* settings("EGRESS_PRIVATE_HOSTS", kinds.privateHost),
    readyImage: yield* setting("READY_IMAGE", kinds.image),
    npmRegistry: yield* settingOr("NPM_REGISTRY", kinds.url, "https://registry.npmjs.org"),
    pypiIndex: yield* settingOr("PYPI_INDEX", kinds.url, "https://pypi.org/simple"),
    packageNode: yield* settingOr("PACKAGE_NODE", oneOf("20", "22", "24", "host"), "24"),
    packageScriptsSeconds: yield* settingOr("PACKAGE_SCRIPTS_SECONDS", kinds.seconds, 300),
    extraCertificates: yield* setting("NODE_EXTRA_CA_CERTS", kinds.text),
    smsUrl: yield* setting("SMS_URL", kinds.smsUrl),
    smsDailyLimit: yield* settingOr("SMS_DAILY_LIMIT", kinds.count, 500),
    smsCountries: yield* settings("SMS_COUNTRIES", kinds.callingCode),
    signUpsPerHour: yield* settingOr("SIGN_UPS_PER_HOUR", kinds.count, 30),
    hubRateLimit: yield* settingOr("HUB_RATE_LIMIT", kinds.count, 60),
    healthProbeSeconds: yield* settingOr("HEALTH_PROBE_SECONDS", kinds.seconds, 60),
    handshakeSeconds: yield* settingOr("HANDSHAKE_SECONDS", kinds.seconds, 30),
    wakeSeconds: yield* settingOr("WAKE_SECONDS", kinds.seconds, 30),
    compositeMemberSeconds: yield* settingOr("COMPOSITE_MEMBER_SECONDS", kinds.seconds, 3),
    hubMaxTier: yield* settingOr("HUB_MAX_TIER", oneOf("explorer", "builder", "partner"), "partner"),
    drainSeconds: yield* settingOr("DRAIN_SECONDS", kinds.drainSeconds, 30),
    scanning: yield* readScanning,
    mirror: yield* readMirror,
    s3: yield* readS3,
    stripe: yield* readStripe,
    logLevel: yield* settingOr("LOG_LEVEL", kinds.logLevel, LogLevel.Info),
    accessLog: (yield* settingOr("ACCESS_LOG", oneOf("on", "off"), "off")) === "on",
    otlpEndpoint: yield* setting("OTEL_EXPORTER_OTLP_ENDPOINT", kinds.url),
    metricsPort: yield* setting("METRICS_PORT", kinds.port),
    metricsHost: yield* settingOr("METRICS_HOST", kinds.host, "127.0.0.1"),
    shutdownSeconds: yield* settingOr("SHUTDOWN_SECONDS", kinds.seconds, 10)
  } satisfies Settings
})

/** Whether anybody reads the process's metrics. */
export const measures = ({ metricsPort, otlpEndpoint }: Pick<Settings, "metricsPort" | "otlpEndpoint">) =>
  Option.isSome(otlpEndpoint) || Option.isSome(metricsPort)

/** Reads the process environment once; the only place that does. */
export const SettingsLive: Layer.Layer<CurrentSettings, SettingError> = Layer.effect(CurrentSettings, read)
