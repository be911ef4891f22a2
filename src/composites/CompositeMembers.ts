import { CurrentSettings } from "#src/config/Settings.ts"
import { documentUrl } from "#src/hub/document-url.ts"
import { mcpUrl, sseUrl } from "#src/servers/addresses.ts"
import { Effect } from "effect"
import { type CompositeMember } from "./Member.ts"
import { type MemberRow, MembersRepo } from "./MembersRepo.ts"
import { mostMembers, type QueryDefinition } from "./QueryDefinition.ts"

/** Which listings are members of a composite at this moment: active, of a health score of 50 or more. Nothing is cached. */
export class CompositeMembers extends Effect.Service<CompositeMembers>()("composites/CompositeMembers", {
  effect: Effect.gen(function*() {
    const repo = yield* MembersRepo
    const settings = yield* CurrentSettings

    const memberOf = ({ hasDocument, id, serverSlug, transport, ...row }: MemberRow): CompositeMember => ({
      listing_id: id,
      name: row.name,
      businessSlug: row.businessSlug,
      mcpServerUrl: serverSlug === null ? "" : (transport === "sse" ? sseUrl : mcpUrl)(settings, serverSlug),
      listing_tier: row.tier,
      verification_tier: row.verificationTier,
      health_score: row.healthScore,
      capability_doc_url: hasDocument ? documentUrl(settings.hubUrl, id) : null,
      tools: row.tools
    })

    /** The best members of a definition, at most 50; the highest rank first, then by id. */
    const resolve = Effect.fn("CompositeMembers.resolve")(function*(definition: QueryDefinition) {
      const rows = yield* repo.best(definition, definition.limit ?? mostMembers)
      return rows.map(memberOf)
    })

    /** Trust, health and number of all members of each definition, in the same order. */
    const summaries = Effect.fn("CompositeMembers.summaries")((definitions: ReadonlyArray<QueryDefinition>) =>
      Effect.forEach(definitions, (definition) => repo.summary(definition), { concurrency: 4 })
    )

    return { resolve, summaries } as const
  })
}) {}
