import { Layer } from "effect"
import { Listings } from "./Listings.ts"
import { ListingsRepo } from "./ListingsRepo.ts"

/** Needs only the database: the operator's commands use it too. */
export const ListingsLive = Layer.provide(Listings.Default, ListingsRepo.Default)
