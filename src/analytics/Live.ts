import { Layer } from "effect"
import { Events } from "./Events.ts"
import { EventsRepo } from "./EventsRepo.ts"
import { UnmetSearches } from "./UnmetSearches.ts"
import { UnmetSearchesRepo } from "./UnmetSearchesRepo.ts"

export const EventsLive = Layer.mergeAll(
  Layer.provide(Events.Default, EventsRepo.Default),
  Layer.provide(UnmetSearches.Default, UnmetSearchesRepo.Default)
)
