/** Stands for an id of the tester's own. */
const noProject = "prj_01J00000000000000000000000"

/** A body that each operation takes, by the operation's name. */
export const goodBodies: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "POST /v1/auth/signup": { email: "somebody@example.com", password: "long enough", name: "Somebody" },
  "POST /v1/auth/login": { email: "somebody@example.com", password: "long enough" },
  "POST /v1/billing/subscribe": { plan: "developer" },
  "PATCH /v1/billing/plan": { plan: "pro" },
  "POST /v1/projects": { name: "Project" },
  "PATCH /v1/projects/{projectId}": { name: "Renamed" },
  "POST /v1/projects/{projectId}/keys": { name: "Key", environment: "test", scopes: ["servers:read"] },
  "POST /v1/projects/{projectId}/servers": {
    name: "Server",
    region: "ord",
    cpu: "shared-1x",
    memoryMb: 256,
    autoStopSeconds: 300,
    healthPath: "/healthz",
    healthTimeoutSeconds: 30,
    requireMcp: null,
    egress: { allow: ["api.example.com", "*.example.com:8443"] }
  },
  "PATCH /v1/servers/{serverId}": { name: "Renamed" },
  "PUT /v1/servers/{serverId}/auth": {
    authMode: "byoa",
    byoaConfig: {
      issuer: "https://id.example.com",
      jwksUri: "https://id.example.com/jwks",
      authorizationEndpoint: "https://id.example.com/authorize",
      tokenEndpoint: "https://id.example.com/token"
    },
    access: "list",
    allowedEmails: ["a@example.com"]
  },
  "POST /v1/servers/{serverId}/deploy": { imageUri: "oci:/nowhere", wait: true },
  "POST /v1/servers/{serverId}/rollback": { version: 1 },
  "POST /api/v1/servers/{serverId}/clients": { clientMetadataUrl: "https://client.invalid/metadata.json" },
  "POST /v1/registries": { host: "registry.example.com:5000", username: "reader", password: "let me in" },
  "PATCH /v1/registries/{registryId}": { password: "let me in again" },
  "POST /v1/servers/{serverId}/env": { name: "A", value: "b" },
  "PUT /v1/servers/{serverId}/env/{name}": { value: "b" },
  "POST /api/v1/ready/businesses": { projectId: noProject, name: "Copper Ladle", templateType: "restaurant" },
  "PATCH /api/v1/ready/businesses/{businessId}": {
    name: "Renamed",
    contact: { phone: "+15550100", address: { city: "Millbrook" }, coordinates: { lat: 41, lng: -87 } },
    hours: { monday: "closed", friday: { open: "10:00", close: "02:00" } },
    featureFlags: { faq: true }
  },
  "PATCH /api/v1/ready/businesses/{businessId}/listing": { name: "Renamed", tags: ["wood fire"] },
  "POST /api/v1/ready/businesses/{businessId}/verification/phone/confirm": { code: "000000" },
  "POST /api/v1/ready/businesses/{businessId}/catalog/items": {
    name: "Corn Ribs",
    description: "Smoked paprika butter, lime.",
    categoryId: null,
    itemType: "menu_item",
    priceCents: 899,
    priceType: "fixed",
    isAvailable: true,
    metadata: { vegetarian: true },
    sortOrder: 0
  },
  "PATCH /api/v1/ready/businesses/{businessId}/catalog/items/{itemId}": {
    priceCents: null,
    isAvailable: false,
    sortOrder: 0
  },
  "POST /api/v1/ready/businesses/{businessId}/catalog/categories": { name: "Starters" },
  "PATCH /api/v1/ready/businesses/{businessId}/catalog/categories/{categoryId}": { name: "Mains", sortOrder: 3 },
  // No such file can be imported: trying it deploys nothing.
  "POST /api/v1/ready/businesses/publish": { filename: "menu.txt", content: "name\nSoup\n", name: "Copper Ladle" },
  // What its tool takes: over HTTP the file is uploaded.
  "POST /api/v1/ready/businesses/{businessId}/import": { filename: "menu.csv", content: "name\nSoup\n" },
  "POST /api/v1/hub/listings/{listingId}/capability-doc": { format: "skill_md", content: "# Copper Ladle\n" },
  "PATCH /v1/directory/{listingId}": { visible: true },
  "POST /api/v1/hub/api-keys": { tier: "builder" },
  "POST /api/v1/hub/keys": { tier: "builder" },
  "POST /v1/hub/composites": { name: "Denver soups", query_definition: { city: "Denver" } },
  "PATCH /v1/hub/composites/{compositeId}": { description: "Soups and stews." }
}

/** A good body with the ids that it names filled in. */
export const bodyFor = (operation: string, ids: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(goodBodies[operation] ?? {}).map((
      [name, value]
    ) => [name, value === noProject ? ids[name] ?? value : value])
  )

/** Fields that take any object. */
export const freeFields: ReadonlySet<string> = new Set(["metadata", "integrations"])
