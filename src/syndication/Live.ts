import { Layer } from "effect"
import { BusinessSearch } from "./BusinessSearch.ts"
import { PublicBusinesses } from "./PublicBusinesses.ts"
import { PublicBusinessesRepo } from "./PublicBusinessesRepo.ts"

export const SyndicationLive = Layer.merge(BusinessSearch.Default, PublicBusinesses.Default).pipe(
  Layer.provide(PublicBusinessesRepo.Default)
)
