import { type Examples } from "./Example.ts"
import { at, base, business, composite, ids, listing, page } from "./things.ts"

const meta = {
  id: ids.hubKeyId,
  userId: ids.userId,
  keyPrefix: "hub_live_YourHub",
  tier: "builder",
  dailyRequestCount: 0,
  lastRequestAt: null,
  createdAt: at.createdAt,
  revokedAt: null
}
const newKey = { data: { key: "hub_live_YourHubKey", meta } }

const documentUrl = `${base}/api/v1/hub/listings/${ids.listingId}/capability-doc/content`
const markdown = `---
name: copper-ladle
description: Soups and stews.
tools:
  - name: get_menu
    description: The menu with its prices
---
# Copper Ladle
`
const tools = [{ name: "get_menu", description: "The menu with its prices" }]
const capabilities = {
  capabilityDocUrl: documentUrl,
  format: "skill_md",
  parsed: { name: "copper-ladle", description: "Soups and stews.", tools }
}

const member = {
  listing_id: ids.listingId,
  name: business.name,
  businessSlug: business.slug,
  mcpServerUrl: listing.mcpServerUrl,
  listing_tier: "featured",
  verification_tier: 1,
  health_score: 98,
  capability_doc_url: documentUrl,
  tools
}
const system = { ...composite, created_by: "system", userId: null, visibility: "public" }

export const hubExamples: Examples = {
  "hubKeys.create": { body: { tier: "builder" }, answer: newKey },
  "hubKeys.list": { answer: { data: [meta] } },
  "hubKeys.revoke": {},
  "hubKeys.createByOldPath": { body: { tier: "builder" }, answer: newKey },
  "hubKeys.listByOldPath": { answer: { data: [meta] } },
  "hubKeys.revokeByOldPath": {},
  "hubListings.skill": {
    answer: `---
name: "copper-ladle"
description: "Copper Ladle (Restaurant) in Denver, CO."
---

# Copper Ladle

Denver, CO · Restaurant
`
  },
  "hubListings.referral": {},
  "hubDocuments.upload": { body: { file: markdown }, answer: capabilities },
  "hubDocuments.get": { answer: { data: capabilities } },
  "hubDocuments.content": { answer: markdown },
  "hubDocuments.skills": {
    answer: {
      listings: [{
        id: ids.listingId,
        name: business.name,
        capability_doc_url: documentUrl,
        capability_doc_format: "skill_md"
      }]
    }
  },
  "hubAnalytics.get": {
    answer: {
      data: {
        tier: "featured",
        period: "30d",
        view_count: 340,
        click_count: 41,
        click_through_rate: 12.06,
        search_impressions: 2210
      }
    }
  },
  "hubAnalytics.daily": {
    answer: {
      data: {
        name: business.name,
        tier: "featured",
        period: "30d",
        days: [{ day: "2026-06-01", view_count: 12, click_count: 2, transaction_count: 1 }]
      }
    }
  },
  "hubAnalytics.unmet": {
    answer: {
      data: {
        period: "30d",
        searches: [{ words: "gluten free soup", city: "Denver", near: false, times: 7, last_day: "2026-06-01" }],
        has_more: false
      }
    }
  },
  "hubAnalytics.record": { answer: { data: { listing_id: ids.listingId, recorded_at: at.updatedAt } } },
  "hubComposites.query": {
    answer: page({ ...system, expiresAt: null, promotedAt: null, members: [member] })
  },
  "hubComposites.create": {
    body: { name: composite.name, query_definition: composite.query_definition },
    answer: { data: composite }
  },
  "hubComposites.browse": { answer: page(system) },
  "hubComposites.mine": { answer: { data: [composite] } },
  "hubComposites.get": { answer: { data: { ...composite, members: [member] } } },
  "hubComposites.update": { body: { description: composite.description }, answer: { data: composite } },
  "hubComposites.delete": {},
  "hubComposites.promote": {
    answer: {
      data: { ...composite, created_by: "agent", visibility: "public", promotedAt: at.updatedAt }
    }
  },
  "hubComposites.skill": {
    answer: `---
name: "denver-soups-q2r3s4t5v6"
description: "Businesses that an agent can ask, best first: \\"Denver soups\\"."
---

# Denver soups
`
  }
}
