import { Layer } from "effect"
import { Events } from "./Events.ts"
import { EventsRepo } from "./EventsRepo.ts"

export const EventsLive = Layer.provide(Events.Default, EventsRepo.Default)
