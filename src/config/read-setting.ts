import { parseUrl } from "#src/format/parse-url.ts"
import { Config, Data, Effect, LogLevel, Option, Redacted } from "effect"
import { parseSecretKey } from "./secret-key.ts"

/** A setting is missing or invalid. The message is one sentence that names it, and the start fails with it. */
export class SettingError extends Data.TaggedError("SettingError")<{ readonly message: string }> {}

interface Kind<A> {
  /** Completes "PORT must be …". */
  readonly expected: string
  /** Undefined for invalid text. */
  readonly parse: (text: string) => A | undefined
  /** The value must not be printed. */
  readonly secret?: boolean
}

const invalid = (name: string, { expected, secret }: Kind<unknown>, text: string) => {
  const value = secret === true ? "" : `, but is ${JSON.stringify(text)}`
  return new SettingError({ message: `${name} must be ${expected}${text.trim() === "" ? ", but is empty" : value}` })
}

/** Reads an optional setting. An empty value is an error, because it comes from a variable that was not filled in. */
export const setting = <A>(name: string, kind: Kind<A>): Effect.Effect<Option.Option<A>, SettingError> =>
  Effect.gen(function*() {
    const text = (yield* Config.string(name)).trim()
    const value = text === "" ? undefined : kind.parse(text)
    return value === undefined ? yield* invalid(name, kind, text) : Option.some(value)
  }).pipe(Effect.catchTag("ConfigError", () => Effect.succeedNone))

/** Reads a setting with a default. */
export const settingOr = <A, const B>(name: string, kind: Kind<A>, fallback: B): Effect.Effect<A | B, SettingError> =>
  Effect.map(setting(name, kind), Option.getOrElse(() => fallback))

/** Reads items separated by commas, none by default; fails with the first invalid item. */
export const settings = (name: string, kind: Kind<string>): Effect.Effect<ReadonlyArray<string>, SettingError> =>
  Config.string(name).pipe(
    Effect.orElseSucceed(() => ""),
    Effect.map((text) => text.split(",").map((item) => item.trim()).filter((item) => item !== "")),
    Effect.flatMap(Effect.forEach((item) => {
      const value = kind.parse(item)
      return value === undefined ? invalid(name, kind, item) : Effect.succeed(value)
    }))
  )

const isPort = (text: string) => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65535

/** A name or an IPv4 address, by the rules of RFC 1123 § 2.1. */
const isHostName = (text: string) =>
  text.length <= 253 && text.split(".").every((label) => /^(?!-)[a-z0-9-]{1,63}(?<!-)$/i.test(label))

const isHost = (text: string) =>
  isHostName(text) || parseUrl(`http://${text}`) !== undefined && /^\[[\da-f:.]+\]$/i.test(text)

/** A host with an optional port. */
const withPort = (text: string, isValid: (host: string) => boolean) => {
  const [, host = "", port] = /^(.*?)(?::(\d+))?$/.exec(text) ?? []
  return isValid(host) && (port === undefined || isPort(port)) ? text.toLowerCase() : undefined
}

const urlOf = (text: string) => {
  const url = parseUrl(text)
  if (url === undefined) return undefined
  const { hash, href, password, protocol, search, username } = url
  return /^https?:$/.test(protocol) && hash + search + username + password === "" ? href.replace(/\/$/, "") : undefined
}

/** An origin as browsers send it (RFC 6454 § 6.2); editors and extensions have schemes of their own. */
const originOf = (text: string) => {
  if (/^https?:/i.test(text)) {
    const url = urlOf(text)
    return url === parseUrl(text)?.origin ? url : undefined
  }
  return /^[a-z][a-z0-9+.-]*:\/\/[^/\s?#]+$/.test(text) ? text : undefined
}

/** One of these words, in lower case. */
export const oneOf = <const A extends string>(...words: ReadonlyArray<A>): Kind<A> => ({
  expected: `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`,
  parse: (text) => words.find((word) => word === text)
})

/** A value that is never printed. */
const secret = (expected: string, isValid: (text: string) => boolean): Kind<Redacted.Redacted> => ({
  expected,
  parse: (text) => isValid(text) ? Redacted.make(text) : undefined,
  secret: true
})

export const kinds = {
  port: { expected: "a port number from 1 to 65535", parse: (text) => isPort(text) ? Number(text) : undefined },
  host: {
    expected: "a host name or IP address of this machine",
    parse: (text) => isHostName(text) || isHost(`[${text}]`) ? text : undefined
  },
  url: {
    expected: "an http or https URL without a query, such as https://api.example.com",
    parse: urlOf
  },
  domain: { expected: "a domain name such as mcp.example.com", parse: (text) => withPort(text, isHostName) },
  text: { expected: "a path", parse: (text) => text },
  proxies: {
    expected: "a number of proxies from 0 to 10",
    parse: (text) => /^\d{1,2}$/.test(text) && Number(text) <= 10 ? Number(text) : undefined
  },
  seconds: {
    expected: "a number of seconds from 3 to 3600",
    parse: (text) => /^\d{1,4}$/.test(text) && Number(text) >= 3 && Number(text) <= 3600 ? Number(text) : undefined
  },
  drainSeconds: {
    expected: "a number of seconds from 0 to 3600",
    parse: (text) => /^\d{1,4}$/.test(text) && Number(text) <= 3600 ? Number(text) : undefined
  },
  origin: { expected: "origins such as https://app.example.com, separated by commas", parse: originOf },
  privateHost: {
    expected: "host names or addresses such as registry.local:5000, separated by commas",
    parse: (text) => withPort(text, isHost)
  },
  logLevel: {
    expected: "DEBUG, INFO, WARN, ERROR or another of Effect's log levels",
    parse: (text) => LogLevel.allLevels.find(({ label }) => label === text.toUpperCase())
  },
  databaseUrl: secret(
    "a PostgreSQL URL (postgres://user:password@host:5432/database)",
    (text) => /^postgres(ql)?:\/\//.test(text) && parseUrl(text) !== undefined
  ),
  redisUrl: secret(
    "a Redis URL (redis://host:6379, or rediss:// for TLS)",
    (text) => /^rediss?:\/\//.test(text) && parseUrl(text) !== undefined
  ),
  image: {
    expected: "an image address such as registry.example.com/berth/ready:1",
    parse: (text) => /^[a-z0-9][\w.:/@-]*$|^oci:\S+$/.test(text) ? text : undefined
  },
  smsUrl: secret(
    "the URL of an SMS gateway, with user, password and sender (https://user:password@host/path?From=%2B15550100)",
    (text) => {
      const url = parseUrl(text)
      return url !== undefined && /^https?:$/.test(url.protocol) && url.searchParams.has("From")
    }
  ),
  bytes: {
    expected: "a size such as 512mb or 2gb",
    parse: (text) => {
      const [, digits, unit = ""] = /^(\d{1,9})(kb|mb|gb|tb)?$/i.exec(text) ?? []
      return digits === undefined
        ? undefined
        : Number(digits) * 1024 ** ["", "kb", "mb", "gb", "tb"].indexOf(unit.toLowerCase())
    }
  },
  count: {
    expected: "a whole number from 1 to 1000000",
    parse: (text) => /^[1-9]\d{0,6}$/.test(text) && Number(text) <= 1_000_000 ? Number(text) : undefined
  },
  bucket: {
    expected: "the name of a bucket, and what its keys begin with if anything: berth-files or files/berth",
    parse: (text) => {
      const [, bucket, prefix = ""] =
        /^([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/((?!.*\.\.)[\w./-]{1,200}?))?\/?$/.exec(text) ?? []
      return bucket === undefined ? undefined : { bucket, prefix: prefix === "" ? "" : `${prefix}/` }
    }
  },
  region: {
    expected: "a region such as eu-central-1",
    parse: (text) => /^[\w-]{1,64}$/.test(text) ? text : undefined
  },
  accessKey: { expected: "the id of an access key", parse: (text) => /^\S{1,256}$/.test(text) ? text : undefined },
  registryUrl: {
    expected: "the URL of an image registry and a repository, such as https://registry.example.com/berth",
    parse: urlOf
  },
  registryUser: { expected: "the name of a user", parse: (text) => /^[^\s:]{1,255}$/.test(text) ? text : undefined },
  registryPassword: secret("a password", (text) => text.length <= 8192),
  accessSecret: secret("the secret of an access key", (text) => /^\S{1,1024}$/.test(text)),
  stripeKey: secret("a secret or restricted key of Stripe (sk_… or rk_…)", (text) => /^[sr]k_\S{8,256}$/.test(text)),
  webhookSecret: secret(
    "the signing secret of a webhook endpoint of Stripe (whsec_…)",
    (text) => /^whsec_\S{8,256}$/.test(text)
  ),
  stripePrice: {
    expected: "the id of a price of Stripe (price_…)",
    parse: (text) => /^price_\w{1,200}$/.test(text) ? text : undefined
  },
  callingCode: {
    expected: "calling codes such as +1, separated by commas",
    parse: (text) => /^\+[1-9]\d{0,6}$/.test(text) ? text : undefined
  },
  secretKey: secret(
    "32 bytes in base64 (make one with: openssl rand -base64 32)",
    (text) => parseSecretKey(text) !== undefined
  )
} satisfies Record<string, Kind<unknown>>
