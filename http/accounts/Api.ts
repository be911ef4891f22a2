import { EmailTaken, LogIn, Me, Session, SignUp, TooManyAttempts, WrongCredentials } from "#src/accounts/User.ts"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Authentication } from "../Authentication.ts"
import { Data } from "../envelope.ts"

export class AccountsApi extends HttpApiGroup.make("accounts")
  .add(
    HttpApiEndpoint.post("signUp", "/v1/auth/signup")
      .setPayload(SignUp)
      .addSuccess(Data(Session), { status: 201 })
      .addError(EmailTaken)
      .annotate(OpenApi.Summary, "Sign up")
      .annotate(
        OpenApi.Description,
        "Opens an account and a session. The token is the session's, for Bearer or cookie."
      )
  )
  .add(
    HttpApiEndpoint.post("logIn", "/v1/auth/login")
      .setPayload(LogIn)
      .addSuccess(Data(Session))
      .addError(WrongCredentials)
      .addError(TooManyAttempts)
      .annotate(OpenApi.Summary, "Log in")
      .annotate(OpenApi.Description, "After 10 failures in 15 minutes from one address for one e-mail address: 429.")
  )
  .add(
    HttpApiEndpoint.post("logOut", "/v1/auth/logout")
      .addSuccess(HttpApiSchema.NoContent)
      .middleware(Authentication)
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
