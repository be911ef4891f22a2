import { Command, Options, Prompt } from "@effect/cli"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { Config, Console, Effect, Option, Redacted, Schema } from "effect"
import { saveToken } from "./credentials.ts"
import { fail } from "./fail.ts"

const Answer = Schema.Struct({
  data: Schema.optional(Schema.Struct({ token: Schema.String, expiresAt: Schema.String })),
  error: Schema.optional(Schema.Struct({ message: Schema.String }))
})

const url = Options.text("url").pipe(
  Options.withDescription("The installation's base URL"),
  Options.withFallbackConfig(Config.string("BERTH_URL")),
  Options.withDefault("http://localhost:8787")
)
const email = Options.text("email").pipe(Options.optional)
const password = Options.redacted("password").pipe(
  Options.withDescription("Asked for when left out; BERTH_PASSWORD in scripts"),
  Options.withFallbackConfig(Config.redacted("BERTH_PASSWORD")),
  Options.optional
)
const signUp = Options.boolean("sign-up").pipe(Options.withDescription("Open a new account"))

/** `berth login`: opens a session and keeps its token for `berth tools` and `berth call` on this installation. */
export const loginCommand = Command.make(
  "login",
  { url, email, password, signUp },
  ({ email, password, signUp, url }) =>
    Effect.gen(function*() {
      if (!URL.canParse(url)) return yield* fail(`--url: ${url} is not a URL`)
      const address = yield* Option.match(email, {
        onNone: () => Prompt.text({ message: "E-mail" }),
        onSome: Effect.succeed
      })
      const secret = yield* Option.match(password, {
        onNone: () => Prompt.password({ message: "Password" }),
        onSome: Effect.succeed
      })
      const path = signUp ? "/v1/auth/signup" : "/v1/auth/login"
      const request = HttpClientRequest.post(`${url.replace(/\/$/, "")}${path}`).pipe(
        HttpClientRequest.bodyUnsafeJson({ email: address, password: Redacted.value(secret) })
      )
      const { data, error } = yield* HttpClient.execute(request).pipe(
        Effect.flatMap(HttpClientResponse.schemaBodyJson(Answer))
      )
      if (data === undefined) return yield* fail(error?.message ?? "The installation did not answer as expected")
      const file = yield* saveToken(url, data.token)
      yield* Console.log(`Logged in until ${data.expiresAt.slice(0, 10)}; the session is kept in ${file}`)
    }).pipe(
      Effect.catchTags({
        RequestError: () => fail(`Nothing answers at ${url}; is berth running there? (--url says where)`),
        ResponseError: () => fail(`${url} does not answer like a Berth installation`),
        ParseError: () => fail(`${url} does not answer like a Berth installation`),
        QuitException: () => fail("Cancelled")
      })
    )
).pipe(Command.withDescription("Log in to an installation (or --sign-up)"))
