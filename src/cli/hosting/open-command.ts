import { json, show } from "#src/cli/json-output.ts"
import { Command, Options } from "@effect/cli"
import { Config, Console, Effect } from "effect"
import { spawn } from "node:child_process"
import { access, connect, orEnd } from "./platform.ts"
import { findServer, target } from "./target.ts"

const docs = Options.boolean("docs").pipe(Options.withDescription("The page of the installation's API, of no server"))

/** What opens a URL in the user's browser. It is given as an argument of its own: no shell reads it. */
const openers = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"]
} as const satisfies Partial<Record<NodeJS.Platform, ReadonlyArray<string>>>

const opener = (platform: NodeJS.Platform): readonly [string, ...ReadonlyArray<string>] =>
  platform === "darwin" || platform === "win32" ? openers[platform] : ["xdg-open"]

/** Whether a browser could be seen: on Linux there are machines without a screen, and log-ins to them. */
const hasScreen = process.platform !== "linux"
  ? Effect.succeed(true)
  : Config.nonEmptyString("DISPLAY").pipe(
    Config.orElse(() => Config.nonEmptyString("WAYLAND_DISPLAY")),
    Effect.isSuccess
  )

/** False where nothing opens a URL. */
const startBrowser = (url: string) =>
  Effect.async<boolean>((resume) => {
    const [program, ...args] = opener(process.platform)
    const child = spawn(program, [...args, url], { stdio: "ignore", detached: true })
    child.once("error", () => resume(Effect.succeed(false)))
    child.once("spawn", () => {
      child.unref()
      resume(Effect.succeed(true))
    })
  })

/** `berth open`: a server's own page, or the installation's documentation. */
export const openCommand = Command.make(
  "open",
  { ...access, ...target, docs, json },
  ({ config, docs, json, server, token, url }) =>
    Effect.gen(function*() {
      const page = docs
        ? `${url.replace(/\/$/, "")}/docs`
        : (yield* findServer(yield* connect({ url, token }), { config, server })).publicUrl
      // Where a script reads the address, it opens what it wants itself.
      const asks = !json && process.stdout.isTTY === true && (yield* hasScreen)
      const opened = asks && (yield* startBrowser(page))
      yield* show(json, { url: page, opened }, () => page)
      if (opened) yield* Console.error("Opened in your browser")
    }).pipe(orEnd(url))
)
