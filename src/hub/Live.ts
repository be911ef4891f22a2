import { Layer } from "effect"
import { HubKeys } from "./HubKeys.ts"
import { HubKeysRepo } from "./HubKeysRepo.ts"
import { ListingAnalyticsReads } from "./ListingAnalyticsReads.ts"
import { ListingAnalyticsRepo } from "./ListingAnalyticsRepo.ts"
import { ListingSkills } from "./ListingSkills.ts"
import { ListingSkillsRepo } from "./ListingSkillsRepo.ts"

export const HubLive = Layer.mergeAll(
  Layer.provide(HubKeys.Default, HubKeysRepo.Default),
  Layer.provide(ListingSkills.Default, ListingSkillsRepo.Default),
  Layer.provide(ListingAnalyticsReads.Default, ListingAnalyticsRepo.Default)
)
