import { Layer } from "effect"
import { Listings } from "./Listings.ts"
import { ListingsRepo } from "./ListingsRepo.ts"

/** Needs the database alone: for commands of the operator, too. */
export const ListingsLive = Layer.provide(Listings.Default, ListingsRepo.Default)
