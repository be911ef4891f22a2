import { Data } from "#http/answers/envelope.ts"
import { Authentication } from "#http/callers/Authentication.ts"
import { NoBody } from "#http/callers/NoBody.ts"
import { RouteTraits } from "#http/traits/Traits.ts"
import { LogInsBusy } from "#src/accounts/Passwords.ts"
import {
  EmailTaken,
  LogIn,
  Me,
  Session,
  SignUp,
  TooManyAttempts,
  TooManySignUps,
  WrongCredentials
} from "#src/accounts/User.ts"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"

export class AccountsApi extends HttpApiGroup.make("accounts")
  .add(
    HttpApiEndpoint.post("signUp", "/v1/auth/signup")
      .setPayload(SignUp)
      .addSuccess(Data(Session), { status: 201 })
      .addError(EmailTaken)
      .addError(TooManySignUps)
      .addError(LogInsBusy)
      .annotate(RouteTraits, { idempotency: "email" })
      .annotate(OpenApi.Summary, "Sign up")
      .annotate(
        OpenApi.Description,
        "Opens an account and a session. The token is the session's, for Bearer or cookie. 429 after 30 sign-ups in an " +
          "hour from one address, or as many as the operator allows."
      )
  )
  .add(
    HttpApiEndpoint.post("logIn", "/v1/auth/login")
      .setPayload(LogIn)
      .addSuccess(Data(Session))
      .addError(WrongCredentials)
      .addError(TooManyAttempts)
      .addError(LogInsBusy)
      .annotate(OpenApi.Summary, "Log in")
      .annotate(
        OpenApi.Description,
        "429 after 10 failures in 15 minutes from one address for one e-mail address; and after 100 in a day from " +
          "anywhere, when one attempt a minute is left, unless the account was logged in to from that address within " +
          "30 days. 503 while too many log-ins wait."
      )
  )
  .add(
    HttpApiEndpoint.post("logOut", "/v1/auth/logout")
      .addSuccess(HttpApiSchema.NoContent)
      .middleware(NoBody)
      .middleware(Authentication)
      .annotate(RouteTraits, { takes: "session" })
      .annotate(OpenApi.Summary, "Log out: the session ends everywhere")
  )
  .add(
    HttpApiEndpoint.get("me", "/v1/auth/me")
      .addSuccess(Data(Me))
      .middleware(Authentication)
      .annotate(OpenApi.Summary, "Who am I: the user, the plan and the credential in use")
  )
  .annotate(OpenApi.Title, "Accounts")
{}
