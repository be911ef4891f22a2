import { parseUrl } from "#src/format/parse-url.ts"
import { Options } from "@effect/cli"
import { Config } from "effect"

export const installationUrl = Options.text("url").pipe(
  Options.withDescription("The installation's base URL; BERTH_URL in scripts, else http://localhost:8787"),
  Options.withFallbackConfig(Config.string("BERTH_URL")),
  Options.withDefault("http://localhost:8787")
)
export const isInstallation = (url: string) => /^https?:\/\/./.test(url) && parseUrl(url) !== undefined
export const notInstallation = (url: string) =>
  `--url, or BERTH_URL, must be an http or https URL, but is ${JSON.stringify(url)}`
