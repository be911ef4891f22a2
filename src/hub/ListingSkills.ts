import { Events } from "#src/analytics/Events.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { wayTo } from "#src/directory/way-to.ts"
import { ListingNotFound } from "#src/listings/Listing.ts"
import { mcpUrl, sseUrl } from "#src/servers/addresses.ts"
import { isLabel } from "#src/shared/dns-label.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { isUlid } from "#src/shared/ids.ts"
import { keptFor } from "#src/shared/kept-for.ts"
import { optional } from "#src/shared/text.ts"
import { Effect, Option, Schema } from "effect"
import { skillOf, type SkillSource, type SkillUrls, strictSkillOf } from "./ListingSkill.ts"
import { type ListingSkillRow, ListingSkillsRepo } from "./ListingSkillsRepo.ts"

/** Clients fetch each file that an index names, to list them too: the index of all names so many listings. */
const mostListings = 50

/** Contract: Hub error codes, a bad id. */
export class BadListingId extends Schema.TaggedError<BadListingId>()(
  "BadListingId",
  { argument: optional(Schema.Literal("listingId")) },
  failsWith(400, "VALIDATION_ERROR")
) {
  override get message() {
    return `${this.argument ?? "id"}: must be a 26-character ULID`
  }
}

/** There is nowhere to send somebody to. */
export class NoReferral extends Schema.TaggedError<NoReferral>()("NoReferral", {}, failsWith(404)) {
  override get message() {
    return "The business has neither a website nor an MCP server to go to"
  }
}

/** Listings as skills for agents, and the way from there to the business. */
export class ListingSkills extends Effect.Service<ListingSkills>()("hub/ListingSkills", {
  effect: Effect.gen(function*() {
    const repo = yield* ListingSkillsRepo
    const events = yield* Events
    const settings = yield* CurrentSettings

    const partsOf = (row: ListingSkillRow): readonly [SkillSource, SkillUrls] => {
      const { id, server, serverSlug } = row
      const address = server?.transport === "sse" ? sseUrl : mcpUrl
      return [row, {
        hub: settings.hubUrl,
        referral: `${settings.hubUrl}/api/v1/hub/listings/${id}/referral`,
        mcp: serverSlug === null ? undefined : address(settings, serverSlug)
      }]
    }

    const find = Effect.fn("ListingSkills.find")(function*(id: string) {
      if (!isUlid(id)) return yield* new BadListingId()
      const row = yield* repo.find(id)
      return Option.isSome(row) ? row.value : yield* new ListingNotFound()
    })

    /** The SKILL.md of an active listing. `isClick`: counts as one, without waiting for that. */
    const get = Effect.fn("ListingSkills.get")(function*(id: string, isClick: boolean) {
      const row = yield* find(id)
      if (isClick) yield* events.record("click", [id])
      const { tier, verificationTier, healthScore } = row
      return {
        ...skillOf(...partsOf(row)),
        listing: { id, tier, verificationTier, healthScore, hubUrl: settings.hubUrl }
      }
    })

    /** The same in the strict form, by the business's slug. */
    const strict = Effect.fn("ListingSkills.strict")(function*(slug: string, isClick = false) {
      const row = isLabel(slug) ? yield* repo.findBySlug(slug) : Option.none()
      if (Option.isNone(row)) return yield* new ListingNotFound()
      if (isClick) yield* events.record("click", [row.value.id])
      return strictSkillOf(...partsOf(row.value))
    })

    /** Those of the listings that the directory lists first. To count 50 catalogs takes the database a while. */
    const best = yield* keptFor("5 seconds")(
      Effect.map(repo.best(mostListings), (rows) => rows.map((row) => strictSkillOf(...partsOf(row))))
    )

    /**
     * Where to send somebody who follows a listing's link: its website, else its server. `isFollowed`: counts as a referral,
     * once an hour for an address.
     */
    const refer = Effect.fn("ListingSkills.refer")(function*(id: string, isFollowed: boolean) {
      const to = wayTo(settings, yield* find(id))
      if (to === undefined) return yield* new NoReferral()
      if (isFollowed) yield* events.refer(id)
      return to
    })

    return { get, strict, best, refer } as const
  })
}) {}
