import { Layer } from "effect"
import { Directory } from "./Directory.ts"
import { DirectoryCounts } from "./DirectoryCounts.ts"
import { DirectoryMatches } from "./DirectoryMatches.ts"
import { DirectoryRepo } from "./DirectoryRepo.ts"
import { FacetsRepo } from "./FacetsRepo.ts"
import { ItemMatches } from "./ItemMatches.ts"
import { PublicListingsRepo } from "./PublicListingsRepo.ts"
import { RomanisedNames } from "./RomanisedNames.ts"
import { ServerCards } from "./ServerCards.ts"
import { ServerMetadataReads } from "./ServerMetadata.ts"
import { Subregistry } from "./Subregistry.ts"

/** A server's card: for the gateway. */
export const ServerCardsLive = Layer.provideMerge(ServerCards.Default, Subregistry.Default).pipe(
  Layer.provide(PublicListingsRepo.Default)
)

/** The services of the public, unauthenticated reads. */
export const DirectoryLive = Layer.mergeAll(
  Directory.Default,
  Layer.provideMerge(ItemMatches.Default, DirectoryMatches.Default),
  RomanisedNames.Default,
  ServerMetadataReads.Default,
  ServerCardsLive
).pipe(
  Layer.provide([
    Layer.provideMerge(Layer.merge(DirectoryRepo.Default, FacetsRepo.Default), DirectoryCounts.Default),
    PublicListingsRepo.Default
  ])
)
