import { CurrentSettings } from "#src/config/Settings.ts"
import { CallerAddress } from "#src/shared/CallerAddress.ts"
import { addressBucket } from "#src/shared/client-address.ts"
import { newId, newUlid } from "#src/shared/ids.ts"
import { now } from "#src/shared/now.ts"
import { RateLimit } from "#src/shared/RateLimit.ts"
import { digestOf, randomToken } from "#src/shared/tokens.ts"
import { traced } from "#src/shared/traced.ts"
import { Duration, Effect, Option } from "effect"
import { AccountsRepo } from "./AccountsRepo.ts"
import { Attempts } from "./Attempts.ts"
import { AccountId, type Actor, CurrentActor } from "./CurrentActor.ts"
import { Passwords } from "./Passwords.ts"
import { Forbidden, sessionOnly, withPolicy } from "./Policy.ts"
import { type LogIn, type SignUp, TooManySignUps, type UserRow, WrongCredentials } from "./User.ts"

export const sessionPrefix = "svc_sess_"
const lifetime = Duration.toMillis("30 days")
/** A session's expiry is extended at most once a day, so that most reads write nothing. */
const extendAfter = Duration.toMillis("1 day")

/** Users and their sessions. A user is an account: it owns projects and has a plan. */
export class Accounts extends Effect.Service<Accounts>()("accounts/Accounts", {
  effect: Effect.gen(function*() {
    const repo = yield* AccountsRepo
    const attempts = yield* Attempts
    const passwords = yield* Passwords
    const limits = yield* RateLimit
    const { signUpsPerHour } = yield* CurrentSettings

    const open = Effect.fn("Accounts.open")(function*(user: typeof UserRow.Type) {
      const token = sessionPrefix + randomToken()
      const expiresAt = new Date((yield* now).getTime() + lifetime)
      yield* repo.insertSession({ id: newId("ses"), userId: user.id, tokenHash: digestOf(token), expiresAt })
      return { user, token, expiresAt }
    })

    const signUp = Effect.fn("Accounts.signUp")(function*(input: typeof SignUp.Type) {
      const address = yield* CallerAddress
      const key = `sign-ups ${addressBucket(address)}`
      const room = yield* limits.consumeOrPass({ key, limit: signUpsPerHour, window: "1 hour" })
      if (!room.allowed) return yield* new TooManySignUps({ retryAfter: room.retryAfterSeconds })
      const passwordHash = yield* passwords.hash(input.password)
      const user = yield* repo.insertUser({
        id: AccountId.make(newUlid()),
        email: input.email.toLowerCase(),
        name: input.name ?? null,
        passwordHash
      })
      yield* attempts.signedUp(user.email, address)
      return yield* open(user)
    }, passwords.admitted)

    const logIn = Effect.fn("Accounts.logIn")(function*(input: typeof LogIn.Type) {
      const email = input.email.toLowerCase()
      const attempt = yield* attempts.begin(email, yield* CallerAddress)
      const user = yield* repo.userByEmail(email)
      const matches = yield* passwords.verify(Option.getOrUndefined(user)?.passwordHash, input.password)
      if (!matches || Option.isNone(user)) return yield* new WrongCredentials()
      yield* attempts.succeeded(attempt)
      return yield* open(user.value)
    }, passwords.admitted)

    const logOut = Effect.gen(function*() {
      const { credential } = yield* CurrentActor
      if (credential.kind === "session") return yield* repo.deleteSession(credential.id)
      return yield* new Forbidden({
        reason: "There is no session to end: revoke the token at the revocation endpoint (RFC 7009)"
      })
    }).pipe(withPolicy(sessionOnly), Effect.withSpan("Accounts.logOut"))

    const me = Effect.gen(function*() {
      const actor = yield* CurrentActor
      const user = yield* repo.userById(actor.accountId)
      const { credential } = actor
      return {
        user,
        plan: user.plan,
        credential: credential.kind === "session"
          ? { type: "session" as const, expiresAt: credential.expiresAt }
          : credential.kind === "oauth"
          ? { type: "oauth" as const, clientId: credential.id, scopes: [...credential.scopes] }
          : credential.kind === "hub"
          ? { type: "hub" as const, id: credential.id, tier: credential.tier }
          : {
            type: "key" as const,
            id: credential.id,
            projectId: credential.projectId,
            environment: credential.environment,
            scopes: [...credential.scopes]
          }
      }
    }).pipe(Effect.withSpan("Accounts.me"))

    /** The actor of a session token; none when it is unknown, expired or logged out. Extends the expiry. */
    const authenticate = traced("Accounts.authenticate")(function*(token: string) {
      const at = yield* now
      const session = yield* repo.sessionByHash(digestOf(token), at)
      if (Option.isNone(session)) return Option.none<Actor>()
      const { email, id, plan, sessionId } = session.value
      const extended = new Date(at.getTime() + lifetime)
      const extend = extended.getTime() - session.value.expiresAt.getTime() > extendAfter
      if (extend) yield* repo.extendSession(sessionId, extended)
      const expiresAt = extend ? extended : session.value.expiresAt
      return Option.some<Actor>({
        accountId: id,
        email,
        plan,
        credential: { kind: "session", id: sessionId, expiresAt }
      })
    })

    /** The account with this id; none when it was deleted. */
    const find = Effect.fn("Accounts.find")(repo.userIfAny)

    const sweep = Effect.zipRight(Effect.flatMap(now, repo.sweep), attempts.sweep)

    return {
      signUp,
      logIn,
      logOut,
      me,
      authenticate,
      find,
      sweep,
      /** Whether there is any account yet. */
      anybody: repo.anybody
    } as const
  })
}) {}
