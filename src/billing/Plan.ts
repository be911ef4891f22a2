import { failsWith } from "#src/shared/Failure.ts"
import { Schema } from "effect"

/** Regions a server can be placed in. */
export const Region = Schema.Literal("ord", "iad", "lax", "ams", "syd")
export type Region = typeof Region.Type

export const PlanName = Schema.Literal("free", "developer", "pro", "enterprise")
export type PlanName = typeof PlanName.Type

export interface PlanLimits {
  /** Null is no cap, here and below. */
  readonly maxServers: number | null
  readonly requestsPerMonth: number | null
  readonly computeSecondsPerMonth: number | null
  readonly requestsPerMinute: number
  readonly regions: ReadonlyArray<Region>
  /** Whether a server may run without ever stopping when idle. */
  readonly autoStopOptional: boolean
  readonly deploymentsKept: number
}

const everywhere = Region.literals

/** The contract's "Plan comparison" (where two descriptions disagree the detailed table wins) and "Limits". */
export const plans: Readonly<Record<PlanName, PlanLimits>> = {
  free: {
    maxServers: 2,
    requestsPerMonth: 10_000,
    computeSecondsPerMonth: 100_000,
    requestsPerMinute: 100,
    regions: ["ord"],
    autoStopOptional: false,
    deploymentsKept: 3
  },
  developer: {
    maxServers: 10,
    requestsPerMonth: 100_000,
    computeSecondsPerMonth: 1_000_000,
    requestsPerMinute: 1_000,
    regions: everywhere,
    autoStopOptional: true,
    deploymentsKept: 10
  },
  pro: {
    maxServers: 50,
    requestsPerMonth: 1_000_000,
    computeSecondsPerMonth: 10_000_000,
    requestsPerMinute: 10_000,
    regions: everywhere,
    autoStopOptional: true,
    deploymentsKept: 10
  },
  enterprise: {
    maxServers: null,
    requestsPerMonth: null,
    computeSecondsPerMonth: null,
    requestsPerMinute: 100_000,
    regions: everywhere,
    autoStopOptional: true,
    deploymentsKept: 10
  }
}

/** The plan does not allow it (403 `PLAN_LIMIT_REACHED`, `details: { limit, plan }`). */
export class PlanLimitReached extends Schema.TaggedError<PlanLimitReached>()("PlanLimitReached", {
  plan: PlanName,
  limit: Schema.Literal("servers", "region", "autoStop"),
  allowed: Schema.String
}, failsWith(403, "PLAN_LIMIT_REACHED")) {
  override get message() {
    return `The ${this.plan} plan allows ${this.allowed}`
  }
  get details() {
    return { limit: this.limit, plan: this.plan }
  }
}
