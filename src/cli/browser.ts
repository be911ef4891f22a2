import { parseUrl } from "#src/format/parse-url.ts"
import { Config, Effect } from "effect"
import { spawn } from "node:child_process"

/** What opens a URL in the user's browser. It is given as an argument of its own: no shell reads it. */
const openers = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"]
} as const satisfies Partial<Record<NodeJS.Platform, ReadonlyArray<string>>>

const opener = (platform: NodeJS.Platform): readonly [string, ...ReadonlyArray<string>] =>
  platform === "darwin" || platform === "win32" ? openers[platform] : ["xdg-open"]

/** Whether a browser could be seen: on Linux there are machines without a screen, and log-ins to them. */
export const hasScreen = process.platform !== "linux"
  ? Effect.succeed(true)
  : Config.nonEmptyString("DISPLAY").pipe(
    Config.orElse(() => Config.nonEmptyString("WAYLAND_DISPLAY")),
    Effect.isSuccess
  )

/** A browser's own schemes: those of files and programs are opened by others, and installations give these URLs. */
const isPage = (url: string) => ["http:", "https:"].includes(parseUrl(url)?.protocol ?? "")

/** False where nothing opens a URL, and for what is no page. */
export const startBrowser = (url: string) =>
  Effect.async<boolean>((resume) => {
    if (!isPage(url)) return resume(Effect.succeed(false))
    const [program, ...args] = opener(process.platform)
    const child = spawn(program, [...args, url], { stdio: "ignore", detached: true })
    child.once("error", () => resume(Effect.succeed(false)))
    child.once("spawn", () => {
      child.unref()
      resume(Effect.succeed(true))
    })
  })
