import { dropToken } from "#src/cli/mcp/credentials.ts"
import { Command } from "@effect/cli"
import { HttpClient, HttpClientRequest } from "@effect/platform"
import { Console, Effect, Option } from "effect"
import { fail } from "./fail.ts"
import { installationUrl, isInstallation, notInstallation } from "./login-command.ts"

/** `berth logout`: ends the session of `berth login`, here and at the installation. */
export const logoutCommand = Command.make("logout", { url: installationUrl }, ({ url }) =>
  Effect.gen(function*() {
    if (!isInstallation(url)) return yield* fail(notInstallation(url))
    const token = yield* dropToken(url)
    if (Option.isNone(token)) return yield* Console.log(`There is no session for ${url}`)
    const request = HttpClientRequest.post(`${url.replace(/\/$/, "")}/v1/auth/logout`).pipe(
      HttpClientRequest.bearerToken(token.value)
    )
    yield* HttpClient.execute(request).pipe(
      Effect.scoped,
      Effect.matchEffect({
        onSuccess: () => Console.log(`Logged out of ${url}`),
        // Without its token nobody can use the session; at the installation it expires.
        onFailure: () => Console.log(`Forgot the session for ${url}, but could not end it there: it does not answer`)
      })
    )
  })).pipe(Command.withDescription("End the session of berth login"))
