import { Config, Effect } from "effect"
import { kinds, oneOf, SettingError, settingOr } from "./read-setting.ts"

export const blockLevels = ["critical", "high", "medium", "low"] as const
export type BlockLevel = typeof blockLevels[number]

export interface ScanSettings {
  readonly scanner: "auto" | "trivy" | "osv" | "none"
  /** Deployments with a vulnerability of this severity or a higher one are refused; without it none is. */
  readonly block: BlockLevel | undefined
  /** How long one scan may take. */
  readonly seconds: number
  /** The root of OSV's API, no trailing slash. */
  readonly osvUrl: string
  /** What Trivy is run with, in place of the platform's environment. */
  readonly environment: Readonly<Record<string, string>>
}

/** Where programs are, how they reach the network, and what Trivy's users set most. */
const passedOn = [
  ...["PATH", "HOME", "TMPDIR", "XDG_CACHE_HOME", "SSL_CERT_FILE", "SSL_CERT_DIR"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"],
  ...["CACHE_DIR", "DB_REPOSITORY", "JAVA_DB_REPOSITORY", "SERVER", "TOKEN", "INSECURE", "OFFLINE_SCAN"]
    .map((name) => `TRIVY_${name}`),
  ...["SKIP_DB_UPDATE", "SKIP_JAVA_DB_UPDATE", "IGNORE_UNFIXED", "IGNOREFILE"].map((name) => `TRIVY_${name}`)
]

const readEnvironment = Effect.map(
  Effect.forEach(passedOn, (name) =>
    Config.string(name).pipe(
      Effect.map((value) => [[name, value] as const]),
      Effect.orElseSucceed(() => [])
    )),
  (found) => Object.fromEntries(found.flat())
)

export const readScanning = Effect.gen(function*() {
  const scanner = yield* settingOr("SCANNER", oneOf("auto", "trivy", "osv", "none"), "auto")
  const block = yield* settingOr("SCAN_BLOCK", oneOf(...blockLevels), undefined)
  if (scanner === "none" && block !== undefined) {
    return yield* new SettingError({
      message: `SCAN_BLOCK=${block} needs a scanner, but SCANNER is "none": nothing could be deployed`
    })
  }
  return {
    scanner,
    block,
    seconds: yield* settingOr("SCAN_SECONDS", kinds.seconds, 300),
    osvUrl: yield* settingOr("OSV_URL", kinds.url, "https://api.osv.dev"),
    environment: yield* readEnvironment
  } satisfies ScanSettings
})
