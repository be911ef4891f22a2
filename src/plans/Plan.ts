import { Schema } from "effect"
import { type ListingTier } from "./ListingTier.ts"

/** Regions in which a server can run. */
export const Region = Schema.Literal("ord", "iad", "lax", "ams", "syd")
export type Region = typeof Region.Type

/** The cheapest first: each plan allows at least what those before it do. */
export const PlanName = Schema.Literal("free", "developer", "pro", "enterprise")
export type PlanName = typeof PlanName.Type

/** Limits of what an account may have at the same time, as counts or bytes. */
export const Quota = Schema.Literal(
  "servers",
  "projects",
  "businesses",
  "previewBytes",
  "documentBytes",
  "imageBytes",
  "uploadBytes"
)
export type Quota = typeof Quota.Type

export interface PlanLimits {
  /** In whole US dollars a month. */
  readonly price: number
  /**
   * Null means no limit, here and below. `previewBytes`: imports that are not confirmed yet. `documentBytes`: capability
   * documents, and those replaced within the hour. `imageBytes`: layers and unpacked files of images that run or can be
   * rolled back to. `uploadBytes`: what was pushed to `/v2`, until it is deleted (docs/decisions/uploads.md).
   */
  readonly quotas: Readonly<Record<Quota, number | null>>
  /** Requests that the gateway passes on to the account's servers. */
  readonly requestsPerMonth: number | null
  readonly computeSecondsPerMonth: number | null
  /** Requests to the platform by the account: its sessions and its keys together. */
  readonly requestsPerMinute: number
  readonly regions: ReadonlyArray<Region>
  /** Whether each server must stop when idle. */
  readonly autoStopRequired: boolean
  /** Versions of a server that can be rolled back to, beside the one that serves. */
  readonly deploymentsKept: number
  /** What is kept of each server's log: so many days, and no more than so many lines. */
  readonly logDays: number
  readonly logLines: number
  /** How its listings stand in the directory, unless the operator set another tier. */
  readonly listingTier: ListingTier
  /** Whether its servers may have domains of its own. */
  readonly customDomains: boolean
  /** What its servers' machines reach outside, where a server says nothing else (docs/decisions/egress.md). */
  readonly egress: "internet" | "none"
}

const everywhere = Region.literals

const MB = 1e6
const GB = 1e9

/**
 * Contract: Limits, plan comparison. Every rule that depends on the plan reads this table. The quota of servers is the
 * contract's; the others keep one account from filling the disk that all accounts share
 * (docs/decisions/account-quotas.md).
 */
export const plans: Readonly<Record<PlanName, PlanLimits>> = {
  free: {
    price: 0,
    quotas: {
      servers: 2,
      projects: 20,
      businesses: 20,
      previewBytes: 50 * MB,
      documentBytes: 50 * MB,
      imageBytes: 2 * GB,
      uploadBytes: 2 * GB
    },
    requestsPerMonth: 10_000,
    computeSecondsPerMonth: 100_000,
    requestsPerMinute: 100,
    regions: ["ord"],
    autoStopRequired: true,
    deploymentsKept: 3,
    logDays: 7,
    logLines: 10_000,
    listingTier: "basic",
    customDomains: false,
    egress: "none"
  },
  developer: {
    price: 29,
    quotas: {
      servers: 10,
      projects: 100,
      businesses: 100,
      previewBytes: 200 * MB,
      documentBytes: 200 * MB,
      imageBytes: 20 * GB,
      uploadBytes: 20 * GB
    },
    requestsPerMonth: 100_000,
    computeSecondsPerMonth: 1_000_000,
    requestsPerMinute: 1_000,
    regions: everywhere,
    autoStopRequired: false,
    deploymentsKept: 10,
    logDays: 14,
    logLines: 20_000,
    listingTier: "featured",
    customDomains: false,
    egress: "none"
  },
  pro: {
    price: 99,
    quotas: {
      servers: 50,
      projects: 500,
      businesses: 1_000,
      previewBytes: 500 * MB,
      documentBytes: 1 * GB,
      imageBytes: 100 * GB,
      uploadBytes: 100 * GB
    },
    requestsPerMonth: 1_000_000,
    computeSecondsPerMonth: 10_000_000,
    requestsPerMinute: 10_000,
    regions: everywhere,
    autoStopRequired: false,
    deploymentsKept: 10,
    logDays: 30,
    logLines: 50_000,
    listingTier: "premium",
    customDomains: true,
    egress: "none"
  },
  enterprise: {
    price: 199,
    quotas: {
      servers: null,
      projects: null,
      businesses: null,
      previewBytes: 2 * GB,
      documentBytes: 10 * GB,
      imageBytes: null,
      uploadBytes: null
    },
    requestsPerMonth: null,
    computeSecondsPerMonth: null,
    requestsPerMinute: 100_000,
    regions: everywhere,
    autoStopRequired: false,
    deploymentsKept: 10,
    logDays: 90,
    logLines: 100_000,
    listingTier: "premium",
    customDomains: true,
    egress: "none"
  }
}

/** A plan's price, as sentences have it. */
export const monthlyPrice = (plan: PlanName) => `${plans[plan].price} USD a month`

/** The cheapest of the dearer plans whose limits allow it; undefined when none does. */
export const nextPlanWith = (plan: PlanName, allows: (limits: PlanLimits) => boolean): PlanName | undefined =>
  PlanName.literals.slice(PlanName.literals.indexOf(plan) + 1).find((dearer) => allows(plans[dearer]))
