import { type Examples } from "./Example.ts"

const plan = {
  plan: "developer",
  price: { amount: 29, currency: "USD", per: "month" },
  limits: {
    requestsPerMonth: 100_000,
    computeSecondsPerMonth: 1_000_000,
    maxServers: 10,
    maxProjects: 100,
    maxBusinesses: 100,
    requestsPerMinute: 1000,
    deploymentsKept: 10,
    logDays: 14,
    logLines: 20_000,
    maxPreviewBytes: 200_000_000,
    maxDocumentBytes: 200_000_000,
    maxImageBytes: 20_000_000_000,
    maxUploadBytes: 20_000_000_000
  },
  regions: ["ord", "iad", "lax", "ams", "syd"],
  autoStopRequired: false,
  listingTier: "featured",
  customDomains: false,
  egress: "none"
}
const period = {
  currentPeriodStart: "2026-06-01T00:00:00.000Z",
  currentPeriodEnd: "2026-07-01T00:00:00.000Z"
}
const usage = { requestCount: 1204, computeSeconds: 8400, bandwidthBytes: 5_311_200 }
const limits = [{ limit: "requestsPerMonth", used: 1204, allowed: 100_000, reached: null, over: false }, {
  limit: "servers",
  used: 1,
  allowed: 10,
  reached: null,
  over: false
}]

export const billingExamples: Examples = {
  "plans.list": { answer: { data: [plan] } },
  "billing.status": {
    answer: {
      data: {
        plan: "developer",
        status: "active",
        ...period,
        usage,
        limits: { requestsPerMonth: 100_000, computeSecondsPerMonth: 1_000_000, maxServers: 10 }
      }
    }
  },
  "billing.plan": { answer: { data: { plan, status: "active", ...period, usage, limits } } },
  "billing.switchPlan": { body: { plan: "pro" } },
  "billing.usage": {
    answer: {
      data: {
        plan: "developer",
        month: null,
        startsAt: period.currentPeriodStart,
        resetsAt: period.currentPeriodEnd,
        usage,
        limits,
        days: [{ day: "2026-06-01", ...usage }]
      }
    }
  },
  "billing.subscribe": {
    body: { plan: "developer" },
    answer: { data: { url: "https://checkout.example.com/c/pay/cs_1" } }
  },
  "billing.cancel": {}
}
