import { CliFailure } from "#src/cli/CliFailure.ts"
import { ErrorAnswer, errorText } from "#src/cli/error-answer.ts"
import { exitCodeOf, exitCodes } from "#src/cli/exit-codes.ts"
import { Prompt } from "@effect/cli"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { Effect, Redacted } from "effect"
import { text } from "node:stream/consumers"
import { hasTerminal } from "./by-password.ts"

/** A token that is asked for, or comes on standard input, so that it stands in no history. */
const read = Effect.suspend(() =>
  hasTerminal()
    ? Effect.map(Prompt.password({ message: "API key or session token" }), Redacted.value)
    : Effect.promise(() => text(process.stdin))
)

/** What is given as a session token or API key, once the installation has taken it. */
export const givenToken = Effect.fn("cli.logInByToken")(function*(root: string) {
  const token = (yield* read).trim()
  if (!/^[\x21-\x7e]+$/.test(token)) {
    return yield* new CliFailure({ message: "Give one token on standard input", code: exitCodes.failed })
  }
  const response = yield* HttpClient.execute(
    HttpClientRequest.get(`${root}/v1/auth/me`).pipe(HttpClientRequest.bearerToken(token))
  )
  if (response.status === 200) return token
  const answer = yield* HttpClientResponse.schemaBodyJson(ErrorAnswer)(response)
  return yield* new CliFailure({ message: errorText(answer), code: exitCodeOf(response.status, answer.error?.code) })
})
