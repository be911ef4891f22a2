import { Accounts } from "#src/accounts/Accounts.ts"
import { type LogInsBusy } from "#src/accounts/Passwords.ts"
import { type EmailTaken, LogIn, SignUp, type TooManyAttempts, type WrongCredentials } from "#src/accounts/User.ts"
import { decodeInput, type Invalid } from "#src/shared/Failure.ts"
import { Data, Effect } from "effect"
import { type Fault } from "./fields.ts"

/** What was entered can't be used; `retryAfter` in seconds. */
export class NotEntered extends Data.TaggedError("NotEntered")<{
  readonly faults: ReadonlyArray<Fault>
  readonly status: number
  readonly retryAfter?: number
}> {}

const named: Readonly<Record<string, string>> = {
  email: "The e-mail address",
  password: "The password",
  name: "The name"
}

const faultOf = ({ message, path }: Invalid["issues"][number]): Fault =>
  named[path] === undefined ? { message: `${message}.` } : { field: path, message: `${named[path]} ${message}.` }

const taken: Fault = {
  field: "email",
  message: "An account with this e-mail address exists already; sign in instead."
}

/** Never 401: that asks for a header of a browser, not for a form (RFC 9110 §15.5.2). */
const notEntered = (error: Invalid | WrongCredentials | EmailTaken | TooManyAttempts | LogInsBusy) => {
  switch (error._tag) {
    case "Invalid":
      return new NotEntered({ faults: error.issues.map(faultOf), status: 422 })
    case "WrongCredentials":
      return new NotEntered({ faults: [{ message: `${error.message}.` }], status: 422 })
    case "EmailTaken":
      return new NotEntered({ faults: [taken], status: 409 })
    case "TooManyAttempts":
      return new NotEntered({ faults: [{ message: `${error.message}.` }], status: 429, retryAfter: error.retryAfter })
    case "LogInsBusy":
      return new NotEntered({ faults: [{ message: `${error.message}.` }], status: 503, retryAfter: error.retryAfter })
  }
}

const text = (form: URLSearchParams, name: string) => form.get(name) ?? ""

/** What a form said of the visitor, to be shown again; never the password. */
export const enteredIn = (form: URLSearchParams) => ({
  email: text(form, "email").trim(),
  name: text(form, "name").trim()
})

/** The session that a form's fields open, under the same rules and limits as over the API. */
export const makeAttempt = Effect.map(Accounts, (accounts) => ({
  "sign-in": Effect.fn("pages.signIn")(function*(form: URLSearchParams) {
    const input = yield* decodeInput(LogIn)({ email: enteredIn(form).email, password: text(form, "password") })
    return yield* accounts.logIn(input)
  }, Effect.mapError(notEntered)),
  "sign-up": Effect.fn("pages.signUp")(function*(form: URLSearchParams) {
    const { email, name } = enteredIn(form)
    const input = { email, password: text(form, "password"), ...(name === "" ? {} : { name }) }
    return yield* accounts.signUp(yield* decodeInput(SignUp)(input))
  }, Effect.mapError(notEntered))
}))
