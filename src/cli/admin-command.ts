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
import { Effect, Layer } from "effect"
import { backupCommand, restoreCommand } from "./backup-commands.ts"
import { exitCodes } from "./exit-codes.ts"
import { fail, orSay } from "./fail.ts"
import { jobsCommand } from "./jobs-command.ts"
import { json, show } from "./json-output.ts"
import { onDatabase } from "./on-database.ts"

/** The service that seals secrets, and the check of its keys. */
const sealing = Layer.provideMerge(SecretKeys.Default, Secrets.Default)

const rewrap = Command.make("rewrap", { json }, ({ json }) =>
  Effect.gen(function*() {
    const done = yield* (yield* Rewrap).all
    yield* show(
      json,
      done,
      () => done.map(({ moved, table }) => `${table}: ${moved} moved to the current key`).join("\n")
    )
  }).pipe(Effect.provide(onDatabase(Rewrap.Default.pipe(Layer.provide(sealing)))), orSay)).pipe(
    Command.withDescription("Move every stored secret to SECRET_KEY; afterwards SECRET_KEY_PREVIOUS can go")
  )

const rotateKeys = Command.make("rotate-keys", { json }, ({ json }) =>
  Effect.gen(function*() {
    yield* (yield* SecretKeys).checkAgainstService
    const kid = yield* (yield* SigningKeys).rotate
    yield* show(
      json,
      { kid },
      () => `${kid} signs access tokens in two minutes; tokens signed before stay valid until they expire`
    )
  }).pipe(Effect.provide(onDatabase(Layer.provideMerge(SigningKeysLive, sealing))), orSay)).pipe(
    Command.withDescription("Make the next key that signs access tokens; the one before verifies for another hour")
  )

const noAccount = (email: string) => fail(`There is no account ${email}`, exitCodes.notFound)

const operators = onDatabase(
  Layer.provide(Operators.Default, [AccountSettingsLive, Layer.provide(StandingLive, ListingsLive)])
)

const plan = Command.make(
  "plan",
  {
    email: Args.text({ name: "email" }),
    plan: Args.choice(PlanName.literals.map((name) => [name, name] as const), { name: "plan" }),
    json
  },
  ({ email, json, plan }) =>
    Effect.gen(function*() {
      const exists = yield* (yield* Operators).setPlan(email, plan)
      yield* exists
        ? show(json, { email, plan }, () => `${email} is on the ${plan} plan`)
        : noAccount(email)
    }).pipe(Effect.provide(operators), orSay)
).pipe(Command.withDescription("Put an account on a plan: free, developer, pro or enterprise"))

const verify = Command.make(
  "verify",
  {
    email: Args.text({ name: "email" }),
    undo: Options.boolean("undo").pipe(Options.withDescription("Take it back")),
    json
  },
  ({ email, json, undo }) =>
    Effect.gen(function*() {
      const exists = yield* (yield* Operators).setVerified(email, !undo)
      const message = `${email} is ${undo ? "not " : ""}verified: servers whose access is a list ${
        undo ? "refuse it" : "let it in where it is listed"
      }`
      yield* exists ? show(json, { email, verified: !undo }, () => message) : noAccount(email)
    }).pipe(Effect.provide(operators), orSay)
).pipe(Command.withDescription("Record that an e-mail address belongs to the account that has it"))

const reviews = Command.make("reviews", { json }, ({ json }) =>
  Effect.gen(function*() {
    const waiting = yield* (yield* Operators).reviews
    yield* show(json, waiting, () =>
      waiting.length === 0
        ? "Nobody waits for a review"
        : waiting.map(({ email, id, level, name }) => `${id}  ${level}  ${email}  ${name}`).join("\n"))
  }).pipe(Effect.provide(operators), orSay)).pipe(
    Command.withDescription("List the businesses that wait for a review")
  )

const premium = Command.make(
  "premium",
  {
    business: Args.text({ name: "business-id" }),
    granted: Args.choice([["grant", true], ["refuse", false]] as const, { name: "grant|refuse" }),
    json
  },
  ({ business, granted, json }) =>
    Effect.gen(function*() {
      const level = yield* (yield* Operators).setPremium(business, granted)
      const later = granted && level !== "premium_verified"
        ? "\nIt becomes premium_verified as soon as it meets the conditions of business_verified"
        : ""
      yield* show(json, { id: business, level }, () => `${business} is ${level}${later}`)
    }).pipe(
      Effect.catchTag("BusinessNotFound", () => fail(`There is no business ${business}`, exitCodes.notFound)),
      Effect.provide(operators),
      orSay
    )
).pipe(Command.withDescription("Grant a business premium_verified after a review, or take it away"))

const composites = Command.make("composites", { json }, ({ json }) =>
  Effect.gen(function*() {
    const made = yield* (yield* SystemComposites).make
    yield* show(
      json,
      made,
      () => `${made.total} system composites: ${made.added} new, ${made.changed} changed, ${made.removed} removed`
    )
  }).pipe(Effect.provide(onDatabase(SystemCompositesLive)), orSay)).pipe(
    Command.withDescription("Make the system composites anew, as the platform does every 6 hours")
  )

/** `berth admin …`: the operator's commands. They use the settings' database, also while the service runs. */
export const adminCommand = Command.make("admin").pipe(
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
