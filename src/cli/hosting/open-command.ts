import { hasScreen, startBrowser } from "#src/cli/browser.ts"
import { json, show } from "#src/cli/json-output.ts"
import { Command, Options } from "@effect/cli"
import { Console, Effect } from "effect"
import { access, connect, orEnd } from "./platform.ts"
import { findServer, target } from "./target.ts"

const docs = Options.boolean("docs").pipe(Options.withDescription("The page of the installation's API, of no server"))

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
