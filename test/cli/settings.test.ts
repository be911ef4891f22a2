import { usableFolder } from "#src/config/home.ts"
import { CurrentSettings, SettingsLive } from "#src/config/Settings.ts"
import { ConfigProvider, Effect, Either, Layer } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { settingsTest, temporaryDirectory } from "../support/Settings.ts"
import { stripeVariables } from "../support/stripe.ts"

const read = (variables: Readonly<Record<string, string>>) =>
  Effect.runSync(Effect.either(Effect.provide(CurrentSettings, settingsTest(variables))))

const sentence = (variables: Readonly<Record<string, string>>) =>
  Either.match(read(variables), { onLeft: ({ message }) => message, onRight: () => "accepted" })

describe("a wrong setting", () => {
  it.each([
    ["PORT", "abc", "a port number from 1 to 65535"],
    ["PORT", "70000", "a port number from 1 to 65535"],
    ["HOST", "two words", "a host name or IP address of this machine"],
    ["BASE_URL", "api.example.com", "an http or https URL without a query, such as https://api.example.com"],
    ["AUTH_URL", "ftp://example.com", "an http or https URL without a query, such as https://api.example.com"],
    ["MCP_DOMAIN", "mcp..example.com", "a domain name such as mcp.example.com"],
    ["TRUST_PROXY", "11", "a number of proxies from 0 to 10"],
    ["TRUST_PROXY", "yes", "a number of proxies from 0 to 10"],
    ["NODE_ENV", "prod", "production, development or test"],
    ["COMPUTE_DRIVER", "docker", "auto or sandbox"],
    ["LOG_LEVEL", "loud", "DEBUG, INFO, WARN, ERROR or another of Effect's log levels"],
    ["DISK_RESERVE", "much", "a size such as 512mb or 2gb"],
    ["DISK_RESERVE", "-1gb", "a size such as 512mb or 2gb"],
    ["DISK_RESERVE", "1.5gb", "a size such as 512mb or 2gb"],
    ["HEALTH_PROBE_SECONDS", "2", "a number of seconds from 3 to 3600"],
    ["SMS_DAILY_LIMIT", "0", "a whole number from 1 to 1000000"],
    ["SMS_DAILY_LIMIT", "2000000", "a whole number from 1 to 1000000"],
    ["SMS_COUNTRIES", "US", "calling codes such as +1, separated by commas"],
    [
      "S3_BUCKET",
      "s3://files",
      "the name of a bucket, and what its keys begin with if anything: berth-files or files/berth"
    ],
    [
      "S3_BUCKET",
      "files/../x",
      "the name of a bucket, and what its keys begin with if anything: berth-files or files/berth"
    ],
    ["S3_ENDPOINT", "minio:9000", "an http or https URL without a query, such as https://api.example.com"],
    ["S3_REGION", "eu central", "a region such as eu-central-1"],
    ["ALLOWED_ORIGINS", "https://app.example.com/page", "origins such as https://app.example.com, separated by commas"],
    ["ALLOWED_ORIGINS", "*", "origins such as https://app.example.com, separated by commas"],
    [
      "ALLOWED_PRIVATE_HOSTS",
      "http://registry",
      "host names or addresses such as registry.local:5000, separated by commas"
    ],
    [
      "ALLOWED_PRIVATE_HOSTS",
      "registry:99999",
      "host names or addresses such as registry.local:5000, separated by commas"
    ]
  ])("%s=%s is one sentence with the name, what is expected, and the value", (name, value, expected) => {
    expect(sentence({ [name]: value })).toBe(`${name} must be ${expected}, but is ${JSON.stringify(value)}`)
  })

  it.each(["PORT", "HOST", "BASE_URL", "BERTH_HOME", "DATABASE_URL", "REDIS_URL", "SECRET_KEY"])(
    "%s that is empty is told, and not taken for one that is not set",
    (name) => expect(sentence({ [name]: "" })).toMatch(new RegExp(`^${name} must be .*, but is empty$`))
  )

  it.each<[string, Readonly<Record<string, string>>]>([
    ["S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set together", { S3_BUCKET: "files", S3_ACCESS_KEY_ID: "a" }],
    ["S3_BUCKET is required with the other settings of S3", { S3_ENDPOINT: "http://localhost:9000" }],
    ["REGISTRY_URL is required with REGISTRY_USERNAME", { REGISTRY_USERNAME: "a", REGISTRY_PASSWORD: "b" }],
    ["REGISTRY_USERNAME and REGISTRY_PASSWORD must be set together", {
      REGISTRY_URL: "https://registry.example.com",
      REGISTRY_USERNAME: "berth"
    }],
    ["REGISTRY_URL must begin with https: when REGISTRY_PASSWORD is set, or others could read it", {
      REGISTRY_URL: "http://registry.example.com/berth",
      REGISTRY_USERNAME: "berth",
      REGISTRY_PASSWORD: "hush"
    }],
    [
      "REGISTRY_URL must end with a repository's name in lower case, such as /berth, but is " +
      "\"https://registry.example.com/Berth\"",
      { REGISTRY_URL: "https://registry.example.com/Berth" }
    ]
  ])("that lacks another, or does not fit it: %s", (message, variables) => expect(sentence(variables)).toBe(message))

  it.each<[string, Readonly<Record<string, string>>]>([
    ["STRIPE_WEBHOOK_SECRET is required with STRIPE_SECRET_KEY", { STRIPE_SECRET_KEY: "sk_test_12345678" }],
    ["STRIPE_SECRET_KEY is required with STRIPE_PRICE_PRO", { STRIPE_PRICE_PRO: "price_1" }],
    ["STRIPE_PRICE_PRO is required with STRIPE_SECRET_KEY", {
      STRIPE_SECRET_KEY: "rk_live_12345678",
      STRIPE_WEBHOOK_SECRET: "whsec_12345678",
      STRIPE_PRICE_DEVELOPER: "price_1"
    }],
    ["STRIPE_SECRET_KEY is required with STRIPE_API_URL", { STRIPE_API_URL: "http://localhost:9000" }]
  ])("of payments that lack another: %s", (message, variables) => expect(sentence(variables)).toBe(message))

  it.each([
    ["DEVELOPER and STRIPE_PRICE_PRO", { STRIPE_PRICE_PRO: "price_dev1" }],
    ["DEVELOPER and STRIPE_PRICE_ENTERPRISE", { STRIPE_PRICE_ENTERPRISE: "price_dev1" }],
    ["PRO and STRIPE_PRICE_ENTERPRISE", {
      STRIPE_PRICE_PRO: "price_dev1",
      STRIPE_PRICE_DEVELOPER: "price_new1",
      STRIPE_PRICE_ENTERPRISE: "price_dev1"
    }]
  ])("of two plans with one price is told with both names: STRIPE_PRICE_%s", (names, variables) => {
    const all = stripeVariables("http://localhost:9000")
    expect(sentence({ ...all, ...variables }))
      .toBe(`STRIPE_PRICE_${names} must be two prices, but both are "price_dev1"`)
    expect(sentence(all)).toBe("accepted")
  })

  it.each([
    ["STRIPE_SECRET_KEY", "pk_live_hunter2hunter2"],
    ["STRIPE_WEBHOOK_SECRET", "hunter2hunter2"],
    ["DATABASE_URL", "mysql://u:hunter2@h/d"],
    ["REDIS_URL", "hunter2"],
    ["SECRET_KEY", "hunter2"]
  ])(
    "%s is not repeated: it may hold a secret",
    (name, value) => {
      expect(sentence({ [name]: value })).toMatch(new RegExp(`^${name} must be `))
      expect(sentence({ [name]: value })).not.toContain("hunter2")
    }
  )

  it("of a list is the first item that is wrong; good ones are taken", () => {
    expect(sentence({ ALLOWED_ORIGINS: "https://a.example, b" })).toContain("but is \"b\"")
    expect(
      read({ ALLOWED_ORIGINS: "https://a.example, vscode-webview://x, ", ALLOWED_PRIVATE_HOSTS: "[::1]:5000,a.b" })
    )
      .toMatchObject({
        right: {
          allowedOrigins: ["https://a.example", "vscode-webview://x"],
          allowedPrivateHosts: ["[::1]:5000", "a.b"]
        }
      })
  })
})

describe("a size", () => {
  it.each([["0", 0], ["4096", 4096], ["512mb", 512 * 1024 ** 2], ["2GB", 2 * 1024 ** 3], ["1tb", 1024 ** 4]])(
    "of %s is %i bytes",
    (text, bytes) => expect(read({ DISK_RESERVE: text })).toMatchObject({ right: { diskReserve: bytes } })
  )

  it("that is not set is a gigabyte; messages go to every country then, 500 a day; an address makes 30 accounts", () => {
    expect(read({})).toMatchObject({
      right: { diskReserve: 1024 ** 3, smsDailyLimit: 500, smsCountries: [], signUpsPerHour: 30 }
    })
    expect(read({ SMS_DAILY_LIMIT: "7", SMS_COUNTRIES: "+1, +44" }))
      .toMatchObject({ right: { smsDailyLimit: 7, smsCountries: ["+1", "+44"] } })
  })
})

it("machines have Node 24 and half a minute for the handshake where nothing is set", () => {
  const nothing = Layer.setConfigProvider(ConfigProvider.fromMap(new Map([["BERTH_HOME", temporaryDirectory()]])))
  expect(Effect.runSync(Effect.provide(CurrentSettings, Layer.provide(SettingsLive, nothing))))
    .toMatchObject({ packageNode: "24", handshakeSeconds: 30 })
})

describe("a home that can't be used", () => {
  const refused = (home: string) => Effect.runSync(Effect.flip(usableFolder("BERTH_HOME", home))).message

  it("is one sentence, where the system has no such folder and where a file is in the way", () => {
    const file = join(temporaryDirectory(), "file")
    writeFileSync(file, "")
    const beginning = "BERTH_HOME must be a folder that can be written to, but"
    for (const home of [file, join(file, "below")]) {
      expect(refused(home)).toBe(`${beginning} ${file} is a file, or lies below one`)
    }
    if (process.platform === "linux") {
      expect(refused("/proc/berth/home")).toMatch(`${beginning} /proc/berth can't be made`)
    }
  })

  it("is made with all that leads to it when it can be", () => {
    expect(Effect.runSync(usableFolder("BERTH_HOME", join(temporaryDirectory(), "a", "b", "c")))).toBeUndefined()
  })
})
