import { type Business } from "#src/businesses/Business.ts"
import { type Composite } from "#src/composites/Composite.ts"
import { type Deployment } from "#src/deployments/Deployment.ts"
import { type ListedListing } from "#src/listings/Listing.ts"
import { type Project } from "#src/projects/Project.ts"
import { type Server } from "#src/servers/Server.ts"

/** What examples are about: one restaurant, its server and its listing, under the same ids in each of them. */
export const ids = {
  userId: "01KF3V6M2Q8R0WZ4T5Y7B9C1DE",
  projectId: "prj_01KF3V7A1B2C3D4E5F6G7H8J9K",
  keyId: "key_01KF3V7X4Y5Z6A7B8C9D0E1F2G",
  serverId: "srv_01KF3V8N2P4Q6R8S0T1V3W5X7Y",
  deploymentId: "dep_01KF3V9Q0R1S2T3V4W5X6Y7Z8A",
  registryId: "reg_01KF3VA3B4C5D6E7F8G9H0J1K2",
  grantId: "gra_01KF3VB6C7D8E9F0G1H2J3K4M5",
  businessId: "01KF3VC9D0E1F2G3H4J5K6M7N8",
  listingId: "01KF3VD2E3F4G5H6J7K8M9N0P1",
  itemId: "01KF3VE5F6G7H8J9K0M1N2P3Q4",
  categoryId: "01KF3VF8G9H0J1K2M3N4P5Q6R7",
  previewId: "01KF3VG1H2J3K4M5N6P7Q8R9S0",
  hubKeyId: "01KF3VH4J5K6M7N8P9Q0R1S2T3",
  compositeId: "01KF3VJ7K8M9N0P1Q2R3S4T5V6"
} as const

export const base = "https://berth.example.com"
export const digest = "sha256:4f0c9b1d7e2a6358c1d0b9e8f7a6c5d4e3f2a1b0c9d8e7f6a5b4c3d2e1f0a9b8"
export const session = "svc_sess_YourSessionToken"

/** When each was made, and changed. */
export const at = { createdAt: "2026-06-01T09:00:00.000Z", updatedAt: "2026-06-02T16:30:00.000Z" }

export const page = <A>(...data: ReadonlyArray<A>) => ({
  data,
  meta: { cursor: null, hasMore: false, total: data.length }
})

export const project: typeof Project.Encoded = {
  id: ids.projectId,
  name: "Copper Ladle",
  slug: "copper-ladle",
  ...at
}

export const server: typeof Server.Encoded = {
  id: ids.serverId,
  projectId: ids.projectId,
  name: "Menu",
  slug: "menu",
  status: "running",
  asleep: false,
  subdomain: "menu.mcp.example.com",
  publicUrl: "https://menu.mcp.example.com",
  region: "ord",
  authMode: "service_managed",
  byoaConfig: null,
  access: "public",
  allowedEmails: [],
  cpu: "shared-1x",
  memoryMb: 256,
  autoStopSeconds: 300,
  healthPath: "/healthz",
  healthTimeoutSeconds: 30,
  requireMcp: null,
  mcpRequired: false,
  rollbackOnHealthCheckFailure: true,
  deploymentRetentionCount: 10,
  deploymentsKept: 10,
  egress: { allow: ["api.example.com", "*.example.com:8443"] },
  guestRequestsPerMinute: 60,
  guestMonthPercent: 10,
  registryCredential: null,
  ...at
}

export const deployment: typeof Deployment.Encoded = {
  id: ids.deploymentId,
  serverId: ids.serverId,
  status: "running",
  imageUri: "ghcr.io/copper-ladle/menu:1.2.0",
  version: 1,
  type: "deploy",
  active: true,
  imageDigest: digest,
  args: null,
  command: null,
  transport: null,
  processes: null,
  packageScripts: false,
  node: null,
  freshDependencies: false,
  package: null,
  trivyScanResult: { critical: 0, high: 1, medium: 4 },
  errorMessage: "",
  admittedBy: "mcp",
  progress: null,
  createdAt: at.createdAt,
  deployedAt: "2026-06-01T09:00:12.000Z",
  mcp: {
    ok: true,
    toolCount: 1,
    transport: "streamable-http",
    revision: "2025-11-25",
    problem: null,
    tools: [{ name: "get_menu", description: "The menu with its prices" }]
  }
}

export const business: typeof Business.Encoded = {
  id: ids.businessId,
  projectId: ids.projectId,
  serverId: ids.serverId,
  listingId: ids.listingId,
  name: "Copper Ladle",
  slug: "copper-ladle",
  description: "Soups and stews, made daily.",
  category: "",
  industry: "restaurant",
  templateType: "restaurant",
  contact: {
    phone: "+15550100",
    email: "",
    website: "https://copper-ladle.example.com",
    address: { line1: "12 Mill Street", city: "Denver", state: "CO", zip: "80202", country: "US" },
    coordinates: { lat: 39.749, lng: -104.994 }
  },
  hours: { monday: "closed", friday: { open: "10:00", close: "22:00" } },
  featureFlags: {
    appointmentBooking: false,
    onlineOrdering: false,
    quoteRequests: false,
    faq: true,
    menuBrowsing: true
  },
  customFields: {},
  integrations: [],
  analytics: null,
  verificationLevel: "phone_verified",
  profileCompleteness: 80,
  health: null,
  ...at
}

export const listing: typeof ListedListing.Encoded = {
  id: ids.listingId,
  businessId: ids.businessId,
  businessName: business.name,
  businessSlug: business.slug,
  name: business.name,
  description: business.description,
  categories: ["Restaurant"],
  tags: ["wood fire"],
  featuredImageUrl: "",
  city: "Denver",
  state: "CO",
  publishedAt: at.createdAt,
  verificationLevel: "phone_verified",
  relevanceScore: 420,
  mcpServerUrl: "https://menu.mcp.example.com/mcp"
}

export const composite: typeof Composite.Encoded = {
  id: ids.compositeId,
  created_by: "user",
  userId: ids.userId,
  name: "Denver soups",
  slug: "denver-soups-q2r3s4t5v6",
  description: "Soups and stews.",
  visibility: "private",
  query_definition: { city: "Denver" },
  compositeTrust: 1,
  avgHealthScore: 97.5,
  memberCount: 1,
  skillMdUrl: `${base}/v1/hub/composites/${ids.compositeId}/skill.md`,
  expiresAt: null,
  promotedAt: null,
  ...at
}
