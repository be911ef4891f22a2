import { Layer } from "effect"
import { Businesses } from "./Businesses.ts"
import { BusinessesRepo } from "./BusinessesRepo.ts"
import { CatalogRepo } from "./CatalogRepo.ts"
import { Catalogs } from "./Catalogs.ts"
import { FollowersLive } from "./followers.ts"
import { ImportedCatalog } from "./ImportedCatalog.ts"
import { ReadyConfigs } from "./ReadyConfigs.ts"
import { ReadyConfigsRepo } from "./ReadyConfigsRepo.ts"
import { ReplacedCatalogsRepo } from "./ReplacedCatalogsRepo.ts"
import { SmsLive } from "./Sms.ts"
import { SmsMessagesRepo } from "./SmsMessagesRepo.ts"
import { Standing } from "./Standing.ts"
import { Verification } from "./Verification.ts"
import { VerificationRepo } from "./VerificationRepo.ts"

/** Needs only listings and the database: the operator's commands use it too. */
export const StandingLive = Layer.provideMerge(Standing.Default, BusinessesRepo.Default)

export const BusinessesLive = Layer.mergeAll(
  Verification.Default,
  Catalogs.Default,
  ImportedCatalog.Default,
  Layer.provideMerge(FollowersLive, ReadyConfigs.Default)
).pipe(
  Layer.provideMerge(Businesses.Default),
  Layer.provideMerge(StandingLive),
  Layer.provide([
    VerificationRepo.Default,
    SmsMessagesRepo.Default,
    CatalogRepo.Default,
    ReadyConfigsRepo.Default,
    ReplacedCatalogsRepo.Default,
    SmsLive
  ])
)
