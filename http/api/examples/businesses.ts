import { type Examples } from "./Example.ts"
import { at, business, deployment, ids, listing, page, server } from "./things.ts"

const csv = "name,description,price\nTomato Soup,With basil,6.50\n"

const category = { id: ids.categoryId, name: "Starters", sortOrder: 0, ...at }
const offer = {
  name: "Corn Ribs",
  description: "Smoked paprika butter, lime.",
  categoryId: null,
  itemType: "menu_item",
  priceCents: 899,
  priceType: "fixed",
  isAvailable: true,
  metadata: { vegetarian: true },
  sortOrder: 0
}
const item = { id: ids.itemId, ...offer, currency: "USD", ...at }

const { mcpServerUrl: _, ...ownListing } = listing

const reading = {
  source_format: "csv",
  record_count: 1,
  field_mappings: [{ source_field: "price", target_field: "price", sample_value: "6.50" }],
  warnings: [],
  encoding: "utf-8",
  delimiter: ",",
  unmapped_columns: [],
  suggested_mappings: {},
  price_candidates: [],
  source_program: null,
  summary: {
    rows_total: 1,
    importable: 1,
    skipped: 0,
    warnings_total: 0,
    categories_to_create: [],
    existing_names: []
  }
}

export const businessExamples: Examples = {
  "businesses.list": { answer: page(business) },
  "businesses.create": {
    body: { projectId: ids.projectId, name: "Copper Ladle", templateType: "restaurant" },
    answer: { data: business }
  },
  "businesses.get": { answer: { data: business } },
  "businesses.update": {
    body: {
      name: "Copper Ladle",
      contact: { phone: "+15550100", address: { city: "Denver" }, coordinates: { lat: 39.749, lng: -104.994 } },
      hours: { monday: "closed", friday: { open: "10:00", close: "02:00" } },
      featureFlags: { faq: true }
    },
    answer: { data: business }
  },
  "businesses.remove": {},
  "businesses.updateListing": {
    body: { name: "Copper Ladle", tags: ["wood fire"] },
    answer: {
      data: {
        ...ownListing,
        status: "active",
        tier: "featured",
        healthScore: 98,
        profileCompleteness: 80,
        agentAccess: true,
        composable: null,
        updatedAt: at.updatedAt
      }
    }
  },
  "imports.preview": {
    body: { file: csv, mappings: { price: "price" } },
    answer: { data: { preview_id: ids.previewId, ...reading, expires_at: "2026-06-02T17:30:00.000Z" } }
  },
  "imports.confirm": { answer: { data: { created_items: 1, warnings_count: 0 } } },
  "imports.discard": {},
  "imports.revert": { answer: { data: { removed_items: 1, removed_categories: 0, restored_profile: false } } },
  "verification.sendCode": { answer: { data: { phone: "+••••••00", expiresAt: "2026-06-02T16:40:00.000Z" } } },
  "verification.confirm": { body: { code: "000000" }, answer: { data: business } },
  "verification.requestReview": { answer: { data: business } },
  "publishing.publish": {
    body: { filename: "menu.csv", content: csv, name: "Copper Ladle" },
    answer: {
      data: {
        businessId: ids.businessId,
        business,
        serverId: ids.serverId,
        mcpUrl: `${server.publicUrl}/mcp`,
        importId: ids.previewId,
        importedItems: 1,
        warnings: [],
        unmapped_columns: [],
        suggested_mappings: {},
        price_candidates: [],
        source_program: null,
        deployment,
        listing: {
          id: ids.listingId,
          businessId: ids.businessId,
          status: "active",
          publishedAt: at.createdAt,
          updatedAt: at.updatedAt
        }
      }
    },
    others: { 200: { data: { dryRun: true, refusal: null, ...reading } } }
  },
  "catalog.get": { answer: { data: { categories: [category], items: [item], meta: page(item).meta } } },
  "catalog.createItem": { body: offer, answer: { data: item } },
  "catalog.updateItem": {
    body: { priceCents: null, isAvailable: false, sortOrder: 0 },
    answer: { data: { ...item, priceCents: null, isAvailable: false } }
  },
  "catalog.deleteItem": {},
  "catalog.createCategory": { body: { name: category.name }, answer: { data: category } },
  "catalog.updateCategory": {
    body: { name: "Mains", sortOrder: 3 },
    answer: { data: { ...category, name: "Mains", sortOrder: 3 } }
  },
  "catalog.deleteCategory": {},
  "readyConfig.get": {
    answer: {
      data: {
        version: "2.0",
        serverId: ids.serverId,
        templateType: "restaurant",
        business: { name: business.name, description: business.description, category: "restaurant" },
        contact: business.contact,
        hours: business.hours,
        catalog: {
          categories: [{ id: ids.categoryId, name: category.name, sortOrder: 0 }],
          items: [{ id: ids.itemId, name: item.name, priceCents: 899, priceType: "fixed", isAvailable: true }]
        },
        featureFlags: business.featureFlags
      }
    }
  }
}
