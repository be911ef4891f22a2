import { AccountSettingsLive } from "#src/accounts/Live.ts"
import { StandingLive } from "#src/businesses/Live.ts"
import { SystemCompositesLive } from "#src/composites/Live.ts"
import { SystemComposites } from "#src/composites/SystemComposites.ts"
import { ListingsLive } from "#src/listings/Live.ts"
import { SigningKeys, SigningKeysLive } from "#src/oauth/SigningKeys.ts"
import { Operators } from "#src/operations/Operators.ts"
import { Rewrap } from "#src/operations/Rewrap.ts"
import { SecretKeys } from "#src/operations/SecretKeys.ts"
import { PlanName } from "#src/plans/Plan.ts"
import { Secrets } from "#src/shared/Secrets.ts"
import { Args, Command, Options } from "@effect/cli"
import { Console, Effect, Layer } from "effect"
import { backupCommand, restoreCommand } from "./backup-commands.ts"
import { fail, orSay } from "./fail.ts"
import { jobsCommand } from "./jobs-command.ts"
import { onDatabase } from "./on-database.ts"

/** The service that seals secrets, and the check of its keys. */
const sealing = Layer.provideMerge(SecretKeys.Default, Secrets.Default)

const rewrap = Command.make("rewrap", {}, () =>
  Effect.gen(function*() {
    const done = yield* (yield* Rewrap).all
    for (const { moved, table } of done) yield* Console.log(`${table}: ${moved} moved to the current key`)
  }).pipe(Effect.provide(onDatabase(Rewrap.Default.pipe(Layer.provide(sealing)))), orSay)).pipe(
    Command.withDescription("Move every stored secret to SECRET_KEY; afterwards SECRET_KEY_PREVIOUS can go")
  )

const rotateKeys = Command.make("rotate-keys", {}, () =>
  Effect.gen(function*() {
    yield* (yield* SecretKeys).checkAgainstService
    const kid = yield* (yield* SigningKeys).rotate
    yield* Console.log(`${kid} signs access tokens in two minutes; tokens signed before stay valid until they expire`)
  }).pipe(Effect.provide(onDatabase(Layer.provideMerge(SigningKeysLive, sealing))), orSay)).pipe(
    Command.withDescription("Make the next key that signs access tokens; the one before verifies for another hour")
  )

const operators = onDatabase(
  Layer.provide(Operators.Default, [AccountSettingsLive, Layer.provide(StandingLive, ListingsLive)])
)

const plan = Command.make(
  "plan",
  {
    email: Args.text({ name: "email" }),
    plan: Args.choice(PlanName.literals.map((name) => [name, name] as const), { name: "plan" })
  },
  ({ email, plan }) =>
    Effect.gen(function*() {
      const exists = yield* (yield* Operators).setPlan(email, plan)
      yield* exists ? Console.log(`${email} is on the ${plan} plan`) : fail(`There is no account ${email}`)
    }).pipe(Effect.provide(operators), orSay)
).pipe(Command.withDescription("Put an account on a plan: free, developer, pro or enterprise"))

const verify = Command.make(
  "verify",
  {
    email: Args.text({ name: "email" }),
    undo: Options.boolean("undo").pipe(Options.withDescription("Take it back"))
  },
  ({ email, undo }) =>
    Effect.gen(function*() {
      const exists = yield* (yield* Operators).setVerified(email, !undo)
      const message = `${email} is ${undo ? "not " : ""}verified: servers whose access is a list ${
        undo ? "refuse it" : "let it in where it is listed"
      }`
      yield* exists ? Console.log(message) : fail(`There is no account ${email}`)
    }).pipe(Effect.provide(operators), orSay)
).pipe(Command.withDescription("Record that an e-mail address belongs to the account that has it"))

const reviews = Command.make("reviews", {}, () =>
  Effect.gen(function*() {
    const waiting = yield* (yield* Operators).reviews
    for (const { email, id, level, name } of waiting) yield* Console.log(`${id}  ${level}  ${email}  ${name}`)
    if (waiting.length === 0) yield* Console.log("Nobody waits for a review")
  }).pipe(Effect.provide(operators), orSay)).pipe(
    Command.withDescription("List the businesses that wait for a review")
  )

const premium = Command.make(
  "premium",
  {
    business: Args.text({ name: "business-id" }),
    granted: Args.choice([["grant", true], ["refuse", false]] as const, { name: "grant|refuse" })
  },
  ({ business, granted }) =>
    Effect.gen(function*() {
      const level = yield* (yield* Operators).setPremium(business, granted)
      yield* Console.log(`${business} is ${level}`)
      if (granted && level !== "premium_verified") {
        yield* Console.log("It becomes premium_verified as soon as it meets the conditions of business_verified")
      }
    }).pipe(
      Effect.catchTag("BusinessNotFound", () => fail(`There is no business ${business}`)),
      Effect.provide(operators),
      orSay
    )
).pipe(Command.withDescription("Grant a business premium_verified after a review, or take it away"))

const composites = Command.make("composites", {}, () =>
  Effect.gen(function*() {
    const { added, changed, removed, total } = yield* (yield* SystemComposites).make
    yield* Console.log(`${total} system composites: ${added} new, ${changed} changed, ${removed} removed`)
  }).pipe(Effect.provide(onDatabase(SystemCompositesLive)), orSay)).pipe(
    Command.withDescription("Make the system composites anew, as the platform does every 6 hours")
  )

/** `berth admin …`: the operator's commands. They use the settings' database, also while the service runs. */
export const adminCommand = Command.make("admin").pipe(
  Command.withDescription("Operate an installation (needs its settings and database)"),
  Command.withSubcommands([
    backupCommand,
    restoreCommand,
    rewrap,
    rotateKeys,
    plan,
    verify,
    reviews,
    premium,
    composites,
    jobsCommand
  ])
)
