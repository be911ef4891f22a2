import { PlanName } from "#src/plans/Plan.ts"
import { optional, Query, Timestamp } from "#src/shared/text.ts"
import { Schema } from "effect"

const Month = Schema.String.pipe(
  Schema.pattern(/^2\d{3}-(0[1-9]|1[0-2])$/, { message: () => "must be a month such as 2027-03" }),
  Schema.annotations({ description: "A UTC calendar month, `YYYY-MM`; default: the current period" })
)

export const usageFields = { month: optional(Month) }
export const UsageQuery = Query(usageFields)

/** What an account has of something that its plan limits. */
export const LimitUse = Schema.Struct({
  limit: Schema.Literal(
    "requestsPerMonth",
    "computeSecondsPerMonth",
    "servers",
    "projects",
    "businesses",
    "previewBytes",
    "documentBytes",
    "imageBytes",
    "uploadBytes",
    "region",
    "autoStop"
  ).annotations({
    description:
      "`region`: servers in regions that the plan does not have. `autoStop`: servers that never stop. Both " +
      "allow 0 or, on plans with all regions and without auto-stop, null. The first two limits are of the current " +
      "period, the others of now"
  }),
  used: Schema.Int,
  allowed: Schema.NullOr(Schema.Int).annotations({ description: "Null: no cap" }),
  reached: Schema.NullOr(Schema.Literal(50, 80, 100)).annotations({
    description: "The last of 50, 80 and 100 percent of what is allowed that is used; null: less, or no cap"
  }),
  over: Schema.Boolean.annotations({
    description: "Whether it is more than the plan allows: it stays, nothing is added"
  })
})
export type LimitUse = typeof LimitUse.Type

const UsageCounts = Schema.Struct({
  requestCount: Schema.Int,
  computeSeconds: Schema.Int,
  bandwidthBytes: Schema.Int.annotations({
    description: "Bodies that the gateway passed on, and what machines exchanged with hosts outside"
  })
})

export const UsageReport = Schema.Struct({
  plan: PlanName,
  month: Schema.NullOr(Month).annotations({ description: "The month that was asked for; null: the current period" }),
  startsAt: Timestamp.annotations({
    description: "When the period began, or the month: the subscription's period, without one the UTC calendar month"
  }),
  resetsAt: Timestamp.annotations({
    description: "When it ends. A new period starts with all of the month's requests"
  }),
  usage: UsageCounts,
  limits: Schema.Array(LimitUse),
  days: Schema.Array(Schema.Struct({
    day: Schema.String.annotations({ description: "UTC, `YYYY-MM-DD`" }),
    ...UsageCounts.fields
  })).annotations({
    description: "Every day until today, the oldest first, each whole: the first may have more than the period"
  })
}).annotations({ title: "UsageReport" })
export type UsageReport = typeof UsageReport.Type
