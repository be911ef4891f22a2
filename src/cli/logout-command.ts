import { Command } from "@effect/cli"
import { HttpClient, HttpClientRequest } from "@effect/platform"
import { Effect, Option } from "effect"
import { fail } from "./fail.ts"
import { installationUrl, isInstallation, notInstallation } from "./installation.ts"
import { json, show } from "./json-output.ts"
import { type Credential, dropCredential } from "./login/credentials.ts"

/** Whether a kept string is a session, and no API key: that one goes on being valid elsewhere. */
const isSession = (credential: string) => credential.startsWith("svc_sess_")

/** Ends what was kept at the installation; false when that does not answer. */
const end = (url: string, credential: Credential) =>
  typeof credential === "string"
    ? HttpClientRequest.post(`${url.replace(/\/$/, "")}/v1/auth/logout`).pipe(
      HttpClientRequest.bearerToken(credential),
      HttpClient.execute,
      Effect.scoped,
      Effect.isSuccess
    )
    // With the library of OAuth, which a session does not need.
    : Effect.flatMap(Effect.promise(() => import("./login/by-browser.ts")), ({ revoke }) => revoke(credential))

/** `berth logout`: ends the login of `berth login`, here and at the installation. */
export const logoutCommand = Command.make(
  "logout",
  { url: installationUrl, json },
  ({ json, url }) =>
    Effect.gen(function*() {
      if (!isInstallation(url)) return yield* fail(notInstallation(url))
      const dropped = yield* dropCredential(url)
      if (Option.isNone(dropped)) {
        return yield* show(json, { url, ended: false }, () => `There is no session for ${url}`)
      }
      const kept = dropped.value
      if (typeof kept === "string" && !isSession(kept)) {
        return yield* show(
          json,
          { url, ended: false },
          () => `Forgot the API key for ${url}; it is valid until it is deleted`
        )
      }
      // Without its token nobody can use what is left at the installation; it expires there.
      const ended = yield* end(url, kept)
      yield* show(
        json,
        { url, ended },
        () =>
          ended
            ? `Logged out of ${url}`
            : `Forgot the session for ${url}, but could not end it there: it does not answer`
      )
    }).pipe(Effect.catchTags({
      CliFailure: ({ code, message }) => fail(message, code),
      SettingError: ({ message }) => fail(message)
    }))
)
