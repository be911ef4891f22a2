import { inBytes } from "#src/shared/bytes.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { Schema } from "effect"
import { monthlyPrice, nextPlanWith, type PlanLimits, PlanName, plans, Quota, type Region } from "./Plan.ts"

const shownNumber = new Intl.NumberFormat("en").format

/** An account may be far over, after a change to a smaller plan: then one less makes no room. */
const deleteSome = (used: number, allowed: number) =>
  used <= allowed ? "delete one" : `delete ${shownNumber(used - allowed + 1)} of the ${shownNumber(used)}`

/** What a quota allows, and what makes room. */
const quotaWords: Readonly<
  Record<Quota, readonly [allowed: (allowed: number) => string, hint: (used: number, allowed: number) => string]>
> = {
  servers: [(allowed) => `${shownNumber(allowed)} servers`, deleteSome],
  projects: [(allowed) => `${shownNumber(allowed)} projects`, deleteSome],
  businesses: [(allowed) => `${shownNumber(allowed)} businesses`, deleteSome],
  previewBytes: [
    (allowed) => `${inBytes(allowed)} of imports that are not confirmed yet`,
    () => "confirm or discard some, or wait"
  ],
  documentBytes: [
    (allowed) => `${inBytes(allowed)} of capability documents, with those that were replaced within the hour`,
    () => "wait"
  ],
  imageBytes: [(allowed) => `${inBytes(allowed)} of images`, () => "delete servers, or keep fewer versions"],
  uploadBytes: [
    (allowed) => `${inBytes(allowed)} of pushed images`,
    () => "delete some (delete_image, DELETE /v1/projects/{id}/images)"
  ]
}

const Amount = Schema.Union(Schema.Number, Schema.String, Schema.Array(Schema.String))
type Amount = typeof Amount.Type

const Limit = Schema.Union(Quota, Schema.Literal("region", "autoStop"))
type Limit = typeof Limit.Type

const priced = (nextPlan: PlanName | null) => ({
  nextPlan,
  nextPrice: nextPlan === null ? null : plans[nextPlan].price
})
const changeTo = (nextPlan: PlanName | null) =>
  nextPlan === null ? [] : [`change to the ${nextPlan} plan (${monthlyPrice(nextPlan)})`]

/**
 * The plan does not allow it (403 `PLAN_LIMIT_REACHED`). Details: the `limit`; what is `used` of it, or was asked for,
 * and what is `allowed`, in the limit's own unit; the `plan`; and the cheapest plan that would allow it (`nextPlan`) with
 * its price in US dollars a month (`nextPrice`), both null when none does.
 */
export class PlanLimitReached extends Schema.TaggedError<PlanLimitReached>()("PlanLimitReached", {
  plan: PlanName,
  limit: Limit,
  used: Amount,
  allowed: Amount,
  nextPlan: Schema.NullOr(PlanName)
}, failsWith(403, "PLAN_LIMIT_REACHED")) {
  override get message() {
    const { limit, nextPlan, plan, used } = this
    const [words, hint] = limit === "region" || limit === "autoStop"
      ? wordsOf(limit, plan)
      : quotaWordsOf(limit, plan, Number(used))
    const ways = [...(hint === undefined ? [] : [hint]), ...changeTo(nextPlan)]
    return `The ${plan} plan allows ${words}${ways.length === 0 ? "" : `: ${ways.join(", or ")}`}`
  }
  get details() {
    const { allowed, limit, nextPlan, plan, used } = this
    return { limit, used, allowed, plan, ...priced(nextPlan) }
  }
}

const quotaWordsOf = (limit: Quota, plan: PlanName, used: number) => {
  const [words, hint] = quotaWords[limit]
  const allowed = plans[plan].quotas[limit] ?? 0
  return [words(allowed), hint(used, allowed)] as const
}

const wordsOf = (limit: "region" | "autoStop", plan: PlanName) =>
  limit === "autoStop"
    ? ["only servers that stop when idle", undefined] as const
    : [`only servers in ${plans[plan].regions.join(", ")}`, undefined] as const

const refusal = (
  plan: PlanName,
  limit: Limit,
  { allowed, used }: { readonly used: Amount; readonly allowed: Amount },
  allows: (limits: PlanLimits) => boolean
) => new PlanLimitReached({ plan, limit, used, allowed, nextPlan: nextPlanWith(plan, allows) ?? null })

/** The refusal of `adding` more to what is `used`; undefined when the plan allows it. */
export const quotaRefusal = (plan: PlanName, limit: Quota, used: number, adding: number) => {
  const fits = ({ quotas }: PlanLimits) => {
    const allowed = quotas[limit]
    return allowed === null || used + adding <= allowed
  }
  const allowed = plans[plan].quotas[limit]
  return allowed === null || fits(plans[plan]) ? undefined : refusal(plan, limit, { used, allowed }, fits)
}

/** The refusal of a server in a region; undefined when the plan allows it. */
export const regionRefusal = (plan: PlanName, region: Region) => {
  const { regions } = plans[plan]
  return regions.includes(region) ? undefined : refusal(
    plan,
    "region",
    { used: region, allowed: regions },
    (limits) => limits.regions.includes(region)
  )
}

/** The refusal of a server that stops after so many idle seconds (null: never); undefined when the plan allows it. */
export const autoStopRefusal = (plan: PlanName, seconds: number | null | undefined) =>
  seconds !== null || !plans[plan].autoStopRequired ? undefined : refusal(
    plan,
    "autoStop",
    { used: "never", allowed: "required" },
    ({ autoStopRequired }) => !autoStopRequired
  )

/** The limits of a period, and what each is of. */
const periodWords = {
  requestsPerMonth: "requests a month",
  computeSecondsPerMonth: "seconds of running machines a month"
} as const
export type PeriodLimit = keyof typeof periodWords

/** What a refusal by a limit of the period says (429); the next one begins at `resetsAt`. */
export const periodRefusal = (limit: PeriodLimit, plan: PlanName, used: number, resetsAt: Date) => {
  const allowed = plans[plan][limit]
  const nextPlan = nextPlanWith(plan, ({ [limit]: more }) => more === null || used < more) ?? null
  const reset = resetsAt.toISOString()
  const ways = [`wait until ${reset}`, ...changeTo(nextPlan)].join(", or ")
  return {
    message: `The ${plan} plan allows ${shownNumber(allowed ?? 0)} ${
      periodWords[limit]
    }, and they are used up: ${ways}`,
    retryAfter: Math.max(1, Math.ceil((resetsAt.getTime() - Date.now()) / 1000)),
    details: { limit, used, allowed, plan, ...priced(nextPlan), resetsAt: reset }
  } as const
}

/** The period's machine time is used up: nothing starts until `resetsAt` (429 `PLAN_LIMIT_REACHED`). */
export class ComputeUsedUp extends Schema.TaggedError<ComputeUsedUp>()("ComputeUsedUp", {
  plan: PlanName,
  used: Schema.Int,
  resetsAt: Schema.Date
}, failsWith(429, "PLAN_LIMIT_REACHED")) {
  get #refusal() {
    return periodRefusal("computeSecondsPerMonth", this.plan, this.used, this.resetsAt)
  }
  override get message() {
    return this.#refusal.message
  }
  get details() {
    return this.#refusal.details
  }
  get retryAfter() {
    return this.#refusal.retryAfter
  }
}
