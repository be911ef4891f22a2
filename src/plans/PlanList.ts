import { Schema } from "effect"
import { ListingTier } from "./ListingTier.ts"
import { PlanName, plans, Region } from "./Plan.ts"

const Cap = Schema.NullOr(Schema.Int)

/** What a plan costs and allows. A null limit means no cap. */
export const PlanView = Schema.Struct({
  plan: PlanName,
  price: Schema.Struct({
    amount: Schema.Int.annotations({ description: "Whole dollars a month" }),
    currency: Schema.Literal("USD"),
    per: Schema.Literal("month")
  }),
  limits: Schema.Struct({
    requestsPerMonth: Cap.annotations({
      description: "To all of the account's servers together. A refusal's limit `requestsPerMonth`"
    }),
    computeSecondsPerMonth: Cap.annotations({
      description:
        "Seconds that its machines run, added up; at the end they sleep. A refusal's limit `computeSecondsPerMonth`"
    }),
    maxServers: Cap.annotations({ description: "A refusal's limit `servers`" }),
    maxProjects: Cap.annotations({ description: "A refusal's limit `projects`" }),
    maxBusinesses: Cap.annotations({ description: "A refusal's limit `businesses`" }),
    requestsPerMinute: Schema.Int.annotations({ description: "To the platform, by sessions and keys together" }),
    deploymentsKept: Schema.Int.annotations({ description: "Versions of a server that can be rolled back to" }),
    logDays: Schema.Int.annotations({ description: "Days for which lines of a server's log are kept" }),
    logLines: Schema.Int.annotations({ description: "Lines of a server's log that are kept, the newest" }),
    maxPreviewBytes: Cap.annotations({
      description: "Imports that are not confirmed yet. A refusal's limit `previewBytes`"
    }),
    maxDocumentBytes: Cap.annotations({ description: "Capability documents. A refusal's limit `documentBytes`" }),
    maxImageBytes: Cap.annotations({
      description: "Images that run or can be rolled back to, unpacked. A refusal's limit `imageBytes`"
    }),
    maxUploadBytes: Cap.annotations({ description: "Images pushed to `/v2`. A refusal's limit `uploadBytes`" })
  }),
  regions: Schema.Array(Region).annotations({ description: "Where its servers may run. A refusal's limit `region`" }),
  autoStopRequired: Schema.Boolean.annotations({
    description: "Whether each server must stop when idle. A refusal's limit `autoStop`"
  }),
  listingTier: ListingTier.annotations({ description: "The tier of its listings in the directory" }),
  customDomains: Schema.Boolean.annotations({
    description: "Whether servers may have domains of their own, once this installation offers that"
  }),
  egress: Schema.Literal("internet", "none").annotations({
    description: "What its servers' machines reach outside, where a server's own egress says nothing else"
  })
}).annotations({ title: "Plan" })

/** Every plan, the cheapest first. */
export const planList: ReadonlyArray<typeof PlanView.Type> = PlanName.literals.map((plan) => {
  const {
    price,
    quotas,
    requestsPerMonth,
    computeSecondsPerMonth,
    requestsPerMinute,
    deploymentsKept,
    logDays,
    logLines,
    ...rest
  } = plans[plan]
  return {
    plan,
    price: { amount: price, currency: "USD", per: "month" },
    limits: {
      requestsPerMonth,
      computeSecondsPerMonth,
      maxServers: quotas.servers,
      maxProjects: quotas.projects,
      maxBusinesses: quotas.businesses,
      requestsPerMinute,
      deploymentsKept,
      logDays,
      logLines,
      maxPreviewBytes: quotas.previewBytes,
      maxDocumentBytes: quotas.documentBytes,
      maxImageBytes: quotas.imageBytes,
      maxUploadBytes: quotas.uploadBytes
    },
    ...rest
  }
})
