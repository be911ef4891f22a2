import { dropToken } from "#src/cli/mcp/credentials.ts"
import { Command } from "@effect/cli"
import { HttpClient, HttpClientRequest } from "@effect/platform"
import { Effect, Option } from "effect"
import { fail } from "./fail.ts"
import { json, show } from "./json-output.ts"
import { installationUrl, isInstallation, notInstallation } from "./login-command.ts"

/** `berth logout`: ends the session of `berth login`, here and at the installation. */
export const logoutCommand = Command.make(
  "logout",
  { url: installationUrl, json },
  ({ json, url }) =>
    Effect.gen(function*() {
      if (!isInstallation(url)) return yield* fail(notInstallation(url))
      const token = yield* dropToken(url)
      if (Option.isNone(token)) return yield* show(json, { url, ended: false }, () => `There is no session for ${url}`)
      const request = HttpClientRequest.post(`${url.replace(/\/$/, "")}/v1/auth/logout`).pipe(
        HttpClientRequest.bearerToken(token.value)
      )
      yield* HttpClient.execute(request).pipe(
        Effect.scoped,
        Effect.matchEffect({
          onSuccess: () => show(json, { url, ended: true }, () => `Logged out of ${url}`),
          // Without its token nobody can use the session; at the installation it expires.
          onFailure: () =>
            show(
              json,
              { url, ended: false },
              () => `Forgot the session for ${url}, but could not end it there: it does not answer`
            )
        })
      )
    })
)
