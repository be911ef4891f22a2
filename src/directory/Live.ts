import { Layer } from "effect"
import { Directory } from "./Directory.ts"
import { DirectoryCounts } from "./DirectoryCounts.ts"
import { DirectoryRepo } from "./DirectoryRepo.ts"
import { Events } from "./Events.ts"
import { EventsRepo } from "./EventsRepo.ts"
import { Listings } from "./Listings.ts"
import { ListingsRepo } from "./ListingsRepo.ts"
import { PublicListingsRepo } from "./PublicListingsRepo.ts"
import { ServerMetadataReads } from "./ServerMetadata.ts"
import { Subregistry } from "./Subregistry.ts"

/** Listings on the database alone: for commands of the operator, too. */
export const ListingsLive = Layer.provide(Listings.Default, ListingsRepo.Default)

/** What the public reads. */
export const DirectoryLive = Layer.mergeAll(Directory.Default, ServerMetadataReads.Default, Subregistry.Default).pipe(
  Layer.provideMerge(Layer.provide(Events.Default, EventsRepo.Default)),
  Layer.provide([Layer.provideMerge(DirectoryRepo.Default, DirectoryCounts.Default), PublicListingsRepo.Default])
)
