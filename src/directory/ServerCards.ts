import { CurrentSettings } from "#src/config/Settings.ts"
import { version } from "#src/config/version.ts"
import { mcpUrl, reversedDomain } from "#src/servers/addresses.ts"
import { hostName } from "#src/servers/locate.ts"
import { keptFor } from "#src/shared/kept-for.ts"
import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/sdk/types.js"
import { Effect, Option } from "effect"
import { PublicListingsRepo } from "./PublicListingsRepo.ts"
import { type RegistryEntry } from "./RegistryEntry.ts"
import { Subregistry } from "./Subregistry.ts"

const schema = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"

export const cardType = "application/mcp-server-card+json"
export const catalogType = "application/ai-catalog+json"

/** The catalog names so many servers; the registry (`/v0.1/servers`) has all of them, in pages. */
const mostServers = 100

/** What a client learns of a server before it connects (SEP-2127): the registry's entry, in another schema. */
const cardOf = ({ server: { $schema: _, ...server } }: RegistryEntry) => ({ $schema: schema, ...server })

const described = (mcp: string, publisher: string, name: string) => ({
  // Colons part a URN's segments; an IPv6 address has them.
  identifier: `urn:air:${publisher.replaceAll(/[^a-z0-9.-]/g, "-")}:mcp:${name}`,
  type: cardType,
  url: `${mcp}/server-card`
})

/** Server cards (SEP-2127) of the platform's own MCP endpoint and of listed servers, and the catalog that names them. */
export class ServerCards extends Effect.Service<ServerCards>()("directory/ServerCards", {
  effect: Effect.gen(function*() {
    const registry = yield* Subregistry
    const repo = yield* PublicListingsRepo
    const settings = yield* CurrentSettings
    const { baseUrl, mcpDomain } = settings
    const host = hostName(new URL(baseUrl).host)

    const own = {
      $schema: schema,
      name: `${reversedDomain(host)}/berth`,
      version,
      title: "Berth",
      description: "Hosts MCP servers, and a directory of businesses and their MCP servers for agents",
      websiteUrl: `${baseUrl}/docs`,
      remotes: [
        { type: "streamable-http", url: `${baseUrl}/mcp`, supportedProtocolVersions: SUPPORTED_PROTOCOL_VERSIONS },
        { type: "sse", url: `${baseUrl}/sse` }
      ]
    }

    const directory = {
      $schema: schema,
      name: `${reversedDomain(host)}/berth-directory`,
      version,
      title: "Berth directory",
      description: "Businesses near you: hours, menus with prices, and where to order. No login, reads only",
      websiteUrl: `${baseUrl}/docs`,
      remotes: [
        {
          type: "streamable-http",
          url: `${baseUrl}/mcp/directory`,
          supportedProtocolVersions: SUPPORTED_PROTOCOL_VERSIONS
        }
      ]
    }

    /** Of a server that the directory shows. */
    const ofServer = (slug: string) => Effect.map(registry.ofServer(slug), Option.map(cardOf))

    /** AI Catalog 1.0: our own endpoint, then the directory's, then the servers of the listings that the directory lists first. */
    const catalog = yield* keptFor("5 seconds")(Effect.map(repo.best(mostServers), (rows) => ({
      specVersion: "1.0",
      host: { displayName: "Berth", identifier: host, documentationUrl: `${baseUrl}/docs` },
      entries: [
        described(`${baseUrl}/mcp`, host, "berth"),
        described(`${baseUrl}/mcp/directory`, host, "berth-directory"),
        ...rows.map(({ serverSlug }) => described(mcpUrl(settings, serverSlug), hostName(mcpDomain), serverSlug))
      ]
    })))

    return { own, directory, ofServer, catalog } as const
  })
}) {}
