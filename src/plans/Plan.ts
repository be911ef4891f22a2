import { inBytes } from "#src/shared/bytes.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { Schema } from "effect"

/** Regions in which a server can run. */
export const Region = Schema.Literal("ord", "iad", "lax", "ams", "syd")
export type Region = typeof Region.Type

export const PlanName = Schema.Literal("free", "developer", "pro", "enterprise")
export type PlanName = typeof PlanName.Type

/** Limits of what an account may have at the same time, as counts or bytes. */
const Quota = Schema.Literal("servers", "projects", "businesses", "previewBytes", "documentBytes", "imageBytes")
export type Quota = typeof Quota.Type

export interface PlanLimits {
  /**
   * Null means no limit, here and below. `previewBytes`: imports that are not confirmed yet. `documentBytes`: capability
   * documents, and those replaced within the hour. `imageBytes`: layers and unpacked files of images that run or can be
   * rolled back to.
   */
  readonly quotas: Readonly<Record<Quota, number | null>>
  readonly requestsPerMonth: number | null
  readonly computeSecondsPerMonth: number | null
  readonly requestsPerMinute: number
  readonly regions: ReadonlyArray<Region>
  /** Whether a server may run without ever stopping when idle. */
  readonly autoStopOptional: boolean
  readonly deploymentsKept: number
}

const everywhere = Region.literals

const MB = 1e6
const GB = 1e9

/**
 * Contract: Platform limits. The quota of servers is the contract's; the others keep one account from filling the disk
 * that all accounts share (docs/decisions/account-quotas.md).
 */
export const plans: Readonly<Record<PlanName, PlanLimits>> = {
  free: {
    quotas: {
      servers: 2,
      projects: 20,
      businesses: 20,
      previewBytes: 50 * MB,
      documentBytes: 50 * MB,
      imageBytes: 2 * GB
    },
    requestsPerMonth: 10_000,
    computeSecondsPerMonth: 100_000,
    requestsPerMinute: 100,
    regions: ["ord"],
    autoStopOptional: false,
    deploymentsKept: 3
  },
  developer: {
    quotas: {
      servers: 10,
      projects: 100,
      businesses: 100,
      previewBytes: 200 * MB,
      documentBytes: 200 * MB,
      imageBytes: 20 * GB
    },
    requestsPerMonth: 100_000,
    computeSecondsPerMonth: 1_000_000,
    requestsPerMinute: 1_000,
    regions: everywhere,
    autoStopOptional: true,
    deploymentsKept: 10
  },
  pro: {
    quotas: {
      servers: 50,
      projects: 500,
      businesses: 1_000,
      previewBytes: 500 * MB,
      documentBytes: 1 * GB,
      imageBytes: 100 * GB
    },
    requestsPerMonth: 1_000_000,
    computeSecondsPerMonth: 10_000_000,
    requestsPerMinute: 10_000,
    regions: everywhere,
    autoStopOptional: true,
    deploymentsKept: 10
  },
  enterprise: {
    quotas: {
      servers: null,
      projects: null,
      businesses: null,
      previewBytes: 2 * GB,
      documentBytes: 10 * GB,
      imageBytes: null
    },
    requestsPerMonth: null,
    computeSecondsPerMonth: null,
    requestsPerMinute: 100_000,
    regions: everywhere,
    autoStopOptional: true,
    deploymentsKept: 10
  }
}

const quotaWords: Readonly<Record<Quota, (allowed: number) => string>> = {
  servers: (allowed) => `${allowed} servers`,
  projects: (allowed) => `${allowed} projects`,
  businesses: (allowed) => `${allowed} businesses`,
  previewBytes: (allowed) =>
    `${inBytes(allowed)} of imports that are not confirmed yet: confirm or discard one, or wait`,
  documentBytes: (allowed) =>
    `${inBytes(allowed)} of capability documents, with those that were replaced within the hour: wait`,
  imageBytes: (allowed) => `${inBytes(allowed)} of images`
}

/** The plan does not allow it (403 `PLAN_LIMIT_REACHED`). For a quota it has how much is used and allowed. */
export class PlanLimitReached extends Schema.TaggedError<PlanLimitReached>()("PlanLimitReached", {
  plan: PlanName,
  limit: Schema.Union(Quota, Schema.Literal("region", "autoStop")),
  used: Schema.optional(Schema.Number),
  allowed: Schema.Union(Schema.Number, Schema.String)
}, failsWith(403, "PLAN_LIMIT_REACHED")) {
  override get message() {
    const { allowed, limit, plan } = this
    const words = typeof allowed === "string" || limit === "region" || limit === "autoStop"
      ? allowed
      : quotaWords[limit](allowed)
    return `The ${plan} plan allows ${words}`
  }
  get details() {
    const { allowed, limit, plan, used } = this
    return { limit, plan, ...(used === undefined ? {} : { used, allowed }) }
  }
}
