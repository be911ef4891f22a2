import { Accounts } from "#src/accounts/Accounts.ts"
import { type LogInsBusy } from "#src/accounts/Passwords.ts"
import {
  type EmailTaken,
  LogIn,
  SignUp,
  type TooManyAttempts,
  type TooManySignUps,
  type WrongCredentials
} from "#src/accounts/User.ts"
import { decodeInput, type Invalid } from "#src/shared/Failure.ts"
import { Data, Effect } from "effect"
import { type Fault } from "./fields.ts"

/** The form's input is rejected; `retryAfter` in seconds. */
export class FormRejected extends Data.TaggedError("FormRejected")<{
  readonly faults: ReadonlyArray<Fault>
  readonly status: number
  readonly retryAfter?: number
}> {}

const labels: Readonly<Record<string, string>> = {
  email: "The e-mail address",
  password: "The password",
  name: "The name"
}

const faultOf = ({ message, path }: Invalid["issues"][number]): Fault =>
  labels[path] === undefined ? { message: `${message}.` } : { field: path, message: `${labels[path]} ${message}.` }

const emailTaken: Fault = {
  field: "email",
  message: "An account with this e-mail address exists already; sign in instead."
}

/** Never 401, which asks the browser for an `Authorization` header and not for a form (RFC 9110 §15.5.2). */
const rejectionOf = (
  error: Invalid | WrongCredentials | EmailTaken | TooManyAttempts | TooManySignUps | LogInsBusy
) => {
  switch (error._tag) {
    case "Invalid":
      return new FormRejected({ faults: error.issues.map(faultOf), status: 422 })
    case "WrongCredentials":
      return new FormRejected({ faults: [{ message: `${error.message}.` }], status: 422 })
    case "EmailTaken":
      return new FormRejected({ faults: [emailTaken], status: 409 })
    case "TooManyAttempts":
    case "TooManySignUps":
      return new FormRejected({ faults: [{ message: `${error.message}.` }], status: 429, retryAfter: error.retryAfter })
    case "LogInsBusy":
      return new FormRejected({ faults: [{ message: `${error.message}.` }], status: 503, retryAfter: error.retryAfter })
  }
}

const text = (form: URLSearchParams, name: string) => form.get(name) ?? ""

/** The form's values to show again; never the password. */
export const enteredIn = (form: URLSearchParams) => ({
  email: text(form, "email").trim(),
  name: text(form, "name").trim()
})

/** Opens a session from a form's fields, with the same rules and limits as the API. */
export const makeAttempt = Effect.map(Accounts, (accounts) => ({
  "sign-in": Effect.fn("pages.signIn")(function*(form: URLSearchParams) {
    const input = yield* decodeInput(LogIn)({ email: enteredIn(form).email, password: text(form, "password") })
    return yield* accounts.logIn(input)
  }, Effect.mapError(rejectionOf)),
  "sign-up": Effect.fn("pages.signUp")(function*(form: URLSearchParams) {
    const { email, name } = enteredIn(form)
    const input = { email, password: text(form, "password"), ...(name === "" ? {} : { name }) }
    return yield* accounts.signUp(yield* decodeInput(SignUp)(input))
  }, Effect.mapError(rejectionOf))
}))
