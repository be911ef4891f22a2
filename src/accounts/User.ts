import { HubTier } from "#src/plans/HubTier.ts"
import { PlanName } from "#src/plans/Plan.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { characters, Input, Name, optional, Text, Timestamp } from "#src/shared/text.ts"
import { Schema } from "effect"
import { AccountId } from "./CurrentActor.ts"

/** An address in the shape of `local@domain`; kept and compared in lower case. */
const Email = Text(254).pipe(
  Schema.pattern(/^[^\s@"(),:;<>[\]\\]+@[^\s@.]+(\.[^\s@.]+)*$/, { message: () => "must be an e-mail address" }),
  Schema.annotations({ jsonSchema: { type: "string", format: "email", maxLength: 254 } })
)

/** 10 to 1,024 characters (the upper bound keeps hashing cheap). */
const Password = Text(1024).pipe(
  Schema.filter((text) => characters(text) >= 10 || "must be at least 10 characters", {
    jsonSchema: { minLength: 10 }
  }),
  Schema.annotations({ description: "At least 10 characters" })
)

export const SignUp = Input({ email: Email, password: Password, name: optional(Name) })
export const LogIn = Input({ email: Text(254), password: Text(1024) })

const User = Schema.Struct({
  id: AccountId,
  email: Schema.String,
  name: Schema.NullOr(Schema.String),
  createdAt: Timestamp
}).annotations({ title: "User" })

/** A row of users; the password hash never leaves `accounts/`. */
export const UserRow = Schema.Struct({
  id: AccountId,
  email: Schema.String,
  name: Schema.NullOr(Schema.String),
  passwordHash: Schema.String,
  plan: PlanName,
  emailVerifiedAt: Schema.NullOr(Schema.DateFromSelf),
  createdAt: Schema.DateFromSelf
})

/** Answer to a sign-up or log-in: the session's token is shown this once. */
export const Session = Schema.Struct({ user: User, token: Schema.String, expiresAt: Timestamp })

/** The caller: its user, plan, and the credential in use. */
export const Me = Schema.Struct({
  user: Schema.Struct({
    ...User.fields,
    emailVerifiedAt: Schema.NullOr(Timestamp).annotations({
      description: "When the operator verified that the address is this user's; null until then"
    })
  }),
  plan: PlanName,
  credential: Schema.Union(
    Schema.Struct({ type: Schema.Literal("session"), expiresAt: Timestamp }),
    Schema.Struct({
      type: Schema.Literal("key"),
      id: Schema.String,
      projectId: Schema.String,
      environment: Schema.Literal("live", "test"),
      scopes: Schema.Array(Schema.String)
    }),
    Schema.Struct({
      type: Schema.Literal("oauth"),
      clientId: Schema.String,
      scopes: Schema.Array(Schema.String)
    }),
    Schema.Struct({ type: Schema.Literal("hub"), id: Schema.String, tier: HubTier })
  )
})

export class EmailTaken extends Schema.TaggedError<EmailTaken>()("EmailTaken", {}, failsWith(409)) {
  override get message() {
    return "An account with this e-mail address exists already; log in instead"
  }
}

/** The same text for an unknown address and a wrong password, so that callers can't tell which it was. */
export class WrongCredentials extends Schema.TaggedError<WrongCredentials>()("WrongCredentials", {}, failsWith(401)) {
  override get message() {
    return "Wrong e-mail address or password"
  }
}

export class TooManyAttempts
  extends Schema.TaggedError<TooManyAttempts>()("TooManyAttempts", { retryAfter: Schema.Int }, failsWith(429))
{
  override get message() {
    return this.retryAfter > 60
      ? `Too many failed log-ins; try again in ${Math.ceil(this.retryAfter / 60)} minutes`
      : `Too many failed log-ins; try again in ${this.retryAfter} seconds`
  }
}

export class TooManySignUps
  extends Schema.TaggedError<TooManySignUps>()("TooManySignUps", { retryAfter: Schema.Int }, failsWith(429))
{
  override get message() {
    return "Too many accounts were made from your address within an hour; try again in " +
      `${Math.ceil(this.retryAfter / 60)} minutes`
  }
}
