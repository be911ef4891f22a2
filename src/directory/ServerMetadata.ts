import { CurrentSettings } from "#src/config/Settings.ts"
import { levelOfTier, VerificationLevel } from "#src/listings/VerificationLevel.ts"
import { mcpUrl, protectedResourceUrl } from "#src/servers/addresses.ts"
import { slugOfSubdomain } from "#src/servers/locate.ts"
import { BadRequest, failsWith } from "#src/shared/Failure.ts"
import { optional, Query, Text, Timestamp } from "#src/shared/text.ts"
import { Clock, Duration, Effect, Option, Schema } from "effect"
import { PublicListingsRepo, type Served } from "./PublicListingsRepo.ts"

/** Contract: `GET /.well-known/mcp-server-metadata`. */
export const ServerMetadata = Schema.Struct({
  name: Schema.String,
  version: Schema.String.annotations({ description: "Number of the active deployment, as a semantic version" }),
  description: Schema.String,
  mcpServerUrl: Schema.String,
  vertical: Schema.NullOr(Schema.String),
  agentDiscovery: Schema.Struct({
    oauthProtectedResource: Schema.String,
    openaiTransport: Schema.Literal("http", "sse"),
    geminiConnectionType: Schema.String,
    mcpSpecVersion: Schema.String
  }),
  business: Schema.Struct({
    id: Schema.String,
    name: Schema.String,
    slug: Schema.String,
    industry: Schema.String,
    city: Schema.String,
    state: Schema.String,
    verificationLevel: VerificationLevel,
    accountAgeDays: Schema.Int,
    profileCompleteness: Schema.Int,
    lastUpdated: Timestamp,
    interactionCount: Schema.Int
  })
}).annotations({ title: "ServerMetadata" })
export type ServerMetadata = typeof ServerMetadata.Type

const Subdomain = Text(255).annotations({ description: "The server's slug, or its full host name" })
export const metadataArguments = { subdomain: Subdomain }
/** Optional here, so that the handler can answer with its own message. */
export const MetadataQuery = Query({ subdomain: optional(Subdomain) })

export class NoSuchServer extends Schema.TaggedError<NoSuchServer>()("NoSuchServer", {}, failsWith(404)) {
  override get message() {
    return "No listing that is shown has a server by that subdomain"
  }
}

/** The revision of MCP that hosted servers speak. */
const mcpSpecVersion = "2025-11-25"

/** Deployments are numbered from 1; 0 is a server without one. */
export const versionOf = ({ version }: Pick<Served, "version">) => `${version ?? 0}.0.0`

/** Metadata for agents about the server of a business. */
export class ServerMetadataReads extends Effect.Service<ServerMetadataReads>()("directory/ServerMetadata", {
  effect: Effect.gen(function*() {
    const repo = yield* PublicListingsRepo
    const settings = yield* CurrentSettings

    const view = (row: Served, now: number): ServerMetadata => ({
      name: row.name,
      version: versionOf(row),
      description: row.description,
      mcpServerUrl: mcpUrl(settings, row.serverSlug),
      vertical: row.industry === "" ? null : row.industry,
      agentDiscovery: {
        oauthProtectedResource: protectedResourceUrl(settings, row.serverSlug),
        openaiTransport: "http",
        geminiConnectionType: "StreamableHTTP",
        mcpSpecVersion
      },
      business: {
        id: row.businessId,
        name: row.businessName,
        slug: row.businessSlug,
        industry: row.industry,
        city: row.city,
        state: row.state,
        verificationLevel: levelOfTier(row.verificationTier),
        accountAgeDays: Math.max(0, Math.floor((now - row.accountCreatedAt.getTime()) / Duration.toMillis("1 day"))),
        profileCompleteness: row.profileCompleteness,
        lastUpdated: row.updatedAt,
        interactionCount: row.interactionCount
      }
    })

    const get = Effect.fn("ServerMetadata.get")(function*({ subdomain = "" }: typeof MetadataQuery.Type) {
      if (subdomain.trim() === "") {
        const issues = [{ path: "subdomain", message: "is required" }]
        return yield* new BadRequest({ reason: "subdomain: is required", issues })
      }
      const slug = slugOfSubdomain(settings, subdomain)
      const row = slug === undefined ? Option.none() : yield* repo.ofServer(slug)
      return Option.isNone(row) ? yield* new NoSuchServer() : view(row.value, yield* Clock.currentTimeMillis)
    })

    return { get } as const
  })
}) {}
