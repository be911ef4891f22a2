import { type RegistryEntry } from "#src/directory/RegistryEntry.ts"
import { type Examples } from "./Example.ts"
import { at, base, business, ids, listing, page, server } from "./things.ts"

const entry: typeof RegistryEntry.Encoded = {
  server: {
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    name: "com.example.berth/menu",
    title: "Copper Ladle",
    description: business.description,
    version: "0.0.1",
    remotes: [{ type: "streamable-http", url: listing.mcpServerUrl }]
  },
  _meta: {
    "io.modelcontextprotocol.registry/official": {
      status: "active",
      publishedAt: at.createdAt,
      updatedAt: at.updatedAt,
      isLatest: true
    }
  }
}

export const directoryExamples: Examples = {
  "directory.list": { answer: page(listing) },
  "directory.facets": {
    answer: {
      data: {
        total: 1,
        categories: [{ value: "Restaurant", count: 1 }],
        kinds: [{ value: "restaurant", count: 1 }],
        cities: [{ city: "Denver", state: "CO", count: 1 }]
      }
    }
  },
  "directory.get": {
    answer: { data: { ...listing, industry: business.industry, website: business.contact.website } }
  },
  "directory.setVisible": {
    body: { visible: true },
    answer: {
      data: {
        id: ids.listingId,
        businessId: ids.businessId,
        status: "active",
        publishedAt: at.createdAt,
        updatedAt: at.updatedAt
      }
    }
  },
  "directory.serverMetadata": {
    query: { subdomain: server.slug },
    answer: {
      name: business.name,
      version: "0.0.1",
      description: business.description,
      mcpServerUrl: listing.mcpServerUrl,
      vertical: "restaurant",
      agentDiscovery: {
        oauthProtectedResource: `${server.publicUrl}/.well-known/oauth-protected-resource`,
        openaiTransport: "http",
        geminiConnectionType: "StreamableHTTP",
        mcpSpecVersion: "2025-11-25"
      },
      business: {
        id: ids.businessId,
        name: business.name,
        slug: business.slug,
        industry: business.industry,
        city: "Denver",
        state: "CO",
        verificationLevel: "phone_verified",
        accountAgeDays: 31,
        profileCompleteness: 80,
        lastUpdated: at.updatedAt,
        interactionCount: 12
      }
    }
  },
  "registry.list": { answer: { servers: [entry], metadata: { count: 1 } } },
  "registry.versions": { answer: { servers: [entry], metadata: { count: 1 } } },
  "registry.version": { answer: entry },
  "feeds.businesses": {
    answer: {
      data: [{
        status: "listed",
        id: ids.listingId,
        businessId: ids.businessId,
        slug: business.slug,
        name: business.name,
        description: business.description,
        categories: listing.categories,
        tags: listing.tags,
        templateType: "restaurant",
        industry: business.industry,
        address: business.contact.address,
        coordinates: { lat: 39.749, lng: -104.994, isApproximate: false },
        timeZone: "America/Denver",
        hours: business.hours,
        phone: business.contact.phone,
        website: business.contact.website,
        featuredImageUrl: "",
        verificationLevel: "phone_verified",
        mcpServerUrl: listing.mcpServerUrl,
        pageUrl: `${base}/listings/${business.slug}`,
        skillUrl: `${base}/api/v1/hub/listings/${ids.listingId}/skill.md`,
        publishedAt: at.createdAt,
        updatedAt: at.updatedAt
      }],
      meta: { changes_token: "ZmVlZCAxIDYyNjkwMmUy", hasMore: false }
    }
  }
}
