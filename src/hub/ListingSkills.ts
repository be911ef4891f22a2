import { Events } from "#src/analytics/Events.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { ListingNotFound } from "#src/listings/Listing.ts"
import { mcpUrl, sseUrl } from "#src/servers/addresses.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { isUlid } from "#src/shared/ids.ts"
import { Effect, Option, Schema } from "effect"
import { createHash } from "node:crypto"
import { skillOf } from "./ListingSkill.ts"
import { ListingSkillsRepo } from "./ListingSkillsRepo.ts"

/** Contract: Hub error codes, a bad id. */
export class BadListingId
  extends Schema.TaggedError<BadListingId>()("BadListingId", {}, failsWith(400, "VALIDATION_ERROR"))
{
  override get message() {
    return "id: must be a 26-character ULID"
  }
}

/** Listings as skills for agents, and the way from there to the business. */
export class ListingSkills extends Effect.Service<ListingSkills>()("hub/ListingSkills", {
  effect: Effect.gen(function*() {
    const repo = yield* ListingSkillsRepo
    const events = yield* Events
    const settings = yield* CurrentSettings

    const find = Effect.fn("ListingSkills.find")(function*(id: string) {
      if (!isUlid(id)) return yield* new BadListingId()
      const source = yield* repo.find(id)
      return Option.isSome(source) ? source.value : yield* new ListingNotFound()
    })

    /** The SKILL.md of an active listing. `isClick`: counts as one, without waiting for that. */
    const get = Effect.fn("ListingSkills.get")(function*(id: string, isClick: boolean) {
      const source = yield* find(id)
      if (isClick) yield* events.record("click", [id])
      const markdown = skillOf(source, {
        hub: settings.hubUrl,
        referral: `${settings.hubUrl}/api/v1/hub/listings/${id}/referral`,
        mcp: source.serverSlug === null
          ? undefined
          : (source.server?.transport === "sse" ? sseUrl : mcpUrl)(settings, source.serverSlug)
      })
      return {
        markdown,
        etag: `"${createHash("sha256").update(markdown).digest("base64url").slice(0, 22)}"`,
        listing: {
          id,
          tier: source.tier,
          verificationTier: source.verificationTier,
          healthScore: source.healthScore,
          hubUrl: settings.hubUrl
        }
      }
    })

    /** Where to send somebody who follows a listing's link: its website, else its server. `isFollowed`: counts as a referral. */
    const refer = Effect.fn("ListingSkills.refer")(function*(id: string, isFollowed: boolean) {
      const { serverSlug, website } = yield* find(id)
      const to = website !== "" ? website : serverSlug === null ? undefined : mcpUrl(settings, serverSlug)
      if (to === undefined) return yield* new ListingNotFound()
      if (isFollowed) yield* events.record("referral_click", [id])
      return to
    })

    return { get, refer } as const
  })
}) {}
